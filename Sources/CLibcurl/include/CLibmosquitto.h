#ifndef QUAKE_CLIBMOSQUITTO_H
#define QUAKE_CLIBMOSQUITTO_H

#include <stdbool.h>
#include <stddef.h>

// libmosquitto 2, loaded when the first message goes to an MQTT broker, as libcurl is. Its few functions are declared
// here, so that nothing is needed to build: their interface has been the same since version 2.0.

struct mosquitto;

// Loads and initialises libmosquitto. Returns NULL, or the reason why that is not possible. Not thread-safe.
const char *quake_mosquitto_load(void);

// What a client tells its owner, on the thread that calls the client.
struct quake_mosquitto_callbacks {
  // The broker has accepted the connection (0), or refused it.
  void (*answered)(void *owner, int reason, const char *text);
  // The connection has ended.
  void (*ended)(void *owner, int reason, const char *text);
  // The broker has acknowledged (less than 128) or rejected a message.
  void (*acknowledged)(void *owner, int message, int reason, const char *text);
  // A message of a topic that the client follows.
  void (*received)(void *owner, const void *payload, size_t count);
  // libmosquitto explains an error.
  void (*explained)(void *owner, const char *text);
};

// A client that speaks MQTT 5, or 3.1.1. NULL if there is no memory.
struct mosquitto *quake_mosquitto_begin(
    const char *client_id, bool is_old, void *owner, const struct quake_mosquitto_callbacks *callbacks);
void quake_mosquitto_end(struct mosquitto *client);
// The other functions return 0, or a code for quake_mosquitto_error_text.
int quake_mosquitto_set_user(struct mosquitto *client, const char *user, const char *password);
// With the certificate authorities of a PEM file, or with the system's if that is NULL.
int quake_mosquitto_set_tls(struct mosquitto *client, const char *authorities);
// Resolves the name and connects, which may take minutes. If it fails, `reason` is a text for the error.
int quake_mosquitto_connect(
    struct mosquitto *client, const char *host, int port, int keepalive, const char **reason);
// -1 if there is none.
int quake_mosquitto_socket(struct mosquitto *client);
// Reads, writes, and keeps alive what it can without waiting.
int quake_mosquitto_run(struct mosquitto *client);
bool quake_mosquitto_wants_write(struct mosquitto *client);
// Stores the number of the message, which `acknowledged` names.
int quake_mosquitto_publish(
    struct mosquitto *client, int *message, const char *topic, const void *payload, int count, int quality,
    bool is_retained, const char *content_type);
int quake_mosquitto_follow(struct mosquitto *client, const char *topic);
const char *quake_mosquitto_error_text(int code);

#endif
