#include "CPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char components[] = {
#embed "openapi.json"
};

const struct quake_page_asset *quake_openapi_components(void) {
  static const struct quake_page_asset file = {"openapi.json", components, sizeof components};
  return &file;
}
