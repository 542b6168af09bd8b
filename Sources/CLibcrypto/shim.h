#ifndef QUAKE_CLIBCRYPTO_SHIM_H
#define QUAKE_CLIBCRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#endif
