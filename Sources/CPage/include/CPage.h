#ifndef QUAKE_CPAGE_H
#define QUAKE_CPAGE_H

#include "Refusals.h"

#include <stddef.h>

/// A file of the page, as it is in the folder web.
struct quake_page_asset {
  /// Its path in the folder, such as style/base.css.
  const char *_Nonnull name;
  const unsigned char *_Nonnull bytes;
  size_t size;
};

/// The asset with this index, in the order of the names; NULL after the last.
const struct quake_page_asset *_Nullable quake_page_asset(size_t index);

/// The file openapi.json: the object `components` of the API's description.
const struct quake_page_asset *_Nonnull quake_openapi_components(void);

#endif
