#define _GNU_SOURCE
#include "CLibmosquitto.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

// From libmosquitto's documentation: https://mosquitto.org/api/
enum { error_is_lost = 7, error_is_errno = 14, error_is_lookup = 15 };
enum { option_version = 1, option_no_delay = 11, option_system_authorities = 13 };
enum { version_3 = 4, version_5 = 5, log_error = 8, property_content_type = 3, at_least_once = 1 };

struct properties;
struct message {
  int number;
  char *topic;
  void *payload;
  int count;
  int quality;
  bool is_retained;
};

typedef void on_connect(struct mosquitto *, void *, int, int, const struct properties *);
typedef void on_disconnect(struct mosquitto *, void *, int, const struct properties *);
typedef void on_publish(struct mosquitto *, void *, int, int, const struct properties *);
typedef void on_message(struct mosquitto *, void *, const struct message *, const struct properties *);
typedef void on_log(struct mosquitto *, void *, int, const char *);

#define FUNCTIONS(USE)                                                                          \
  USE(int, lib_init, (void))                                                                    \
  USE(int, lib_version, (int *, int *, int *))                                                  \
  USE(struct mosquitto *, new, (const char *, bool, void *))                                    \
  USE(void, destroy, (struct mosquitto *))                                                      \
  USE(int, int_option, (struct mosquitto *, int, int))                                          \
  USE(int, username_pw_set, (struct mosquitto *, const char *, const char *))                   \
  USE(int, tls_set, (struct mosquitto *, const char *, const char *, const char *, const char *, \
                     int (*)(char *, int, int, void *)))                                        \
  USE(int, connect, (struct mosquitto *, const char *, int, int))                               \
  USE(int, disconnect, (struct mosquitto *))                                                    \
  USE(int, socket, (struct mosquitto *))                                                        \
  USE(int, loop_read, (struct mosquitto *, int))                                                \
  USE(int, loop_write, (struct mosquitto *, int))                                               \
  USE(int, loop_misc, (struct mosquitto *))                                                     \
  USE(bool, want_write, (struct mosquitto *))                                                   \
  USE(int, publish_v5, (struct mosquitto *, int *, const char *, int, const void *, int, bool,  \
                        const struct properties *))                                             \
  USE(int, subscribe, (struct mosquitto *, int *, const char *, int))                           \
  USE(int, property_add_string, (struct properties **, int, const char *))                      \
  USE(void, property_free_all, (struct properties **))                                          \
  USE(void *, userdata, (struct mosquitto *))                                                   \
  USE(void, connect_v5_callback_set, (struct mosquitto *, on_connect *))                        \
  USE(void, disconnect_v5_callback_set, (struct mosquitto *, on_disconnect *))                  \
  USE(void, publish_v5_callback_set, (struct mosquitto *, on_publish *))                        \
  USE(void, message_v5_callback_set, (struct mosquitto *, on_message *))                        \
  USE(void, log_callback_set, (struct mosquitto *, on_log *))                                   \
  USE(const char *, strerror, (int))                                                            \
  USE(const char *, connack_string, (int))                                                      \
  USE(const char *, reason_string, (int))

#define DECLARE(RESULT, NAME, ARGUMENTS) RESULT(*NAME) ARGUMENTS;
static struct { FUNCTIONS(DECLARE) } library;

// What a client has as its user data.
struct owner {
  void *owner;
  struct quake_mosquitto_callbacks callbacks;
  bool is_old;
};

const char *quake_mosquitto_load(void) {
  static bool is_loaded = false;
  if (is_loaded) return NULL;
  void *handle = dlopen("libmosquitto.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *problem = dlerror();
    return problem ? problem : "unknown error of the loader";
  }
#define FIND(RESULT, NAME, ARGUMENTS)                                  \
  library.NAME = (RESULT(*) ARGUMENTS)dlsym(handle, "mosquitto_" #NAME); \
  if (!library.NAME) return "libmosquitto.so.1 has no function mosquitto_" #NAME;
  FUNCTIONS(FIND)
  int major = 0, minor = 0, revision = 0;
  library.lib_version(&major, &minor, &revision);
  if (major < 2) return "this libmosquitto is older than version 2.0";
  if (library.lib_init() != 0) return "libmosquitto could not be initialised";
  is_loaded = true;
  return NULL;
}

static const char *reason_text(const struct owner *owner, int reason, bool is_connecting) {
  if (is_connecting && owner->is_old) return library.connack_string(reason);
  return library.reason_string(reason);
}

static void connected(
    struct mosquitto *client, void *data, int reason, int flags, const struct properties *properties) {
  const struct owner *owner = data;
  owner->callbacks.answered(owner->owner, reason, reason_text(owner, reason, true));
}

static void disconnected(
    struct mosquitto *client, void *data, int reason, const struct properties *properties) {
  const struct owner *owner = data;
  // A code of libmosquitto; those of MQTT 5 begin at 128.
  const char *text = reason < 128 ? library.strerror(reason) : library.reason_string(reason);
  owner->callbacks.ended(owner->owner, reason, text);
}

static void published(
    struct mosquitto *client, void *data, int message, int reason, const struct properties *properties) {
  const struct owner *owner = data;
  owner->callbacks.acknowledged(owner->owner, message, reason, reason_text(owner, reason, false));
}

static void received(
    struct mosquitto *client, void *data, const struct message *message,
    const struct properties *properties) {
  const struct owner *owner = data;
  owner->callbacks.received(owner->owner, message->payload, (size_t)message->count);
}

static void logged(struct mosquitto *client, void *data, int level, const char *text) {
  const struct owner *owner = data;
  if (level == log_error) owner->callbacks.explained(owner->owner, text);
}

struct mosquitto *quake_mosquitto_begin(
    const char *client_id, bool is_old, void *owner, const struct quake_mosquitto_callbacks *callbacks) {
  struct owner *data = malloc(sizeof *data);
  if (!data) return NULL;
  *data = (struct owner){owner, *callbacks, is_old};
  struct mosquitto *client = library.new(client_id, true, data);
  if (!client) {
    free(data);
    return NULL;
  }
  library.int_option(client, option_version, is_old ? version_3 : version_5);
  library.int_option(client, option_no_delay, 1);
  library.connect_v5_callback_set(client, connected);
  library.disconnect_v5_callback_set(client, disconnected);
  library.publish_v5_callback_set(client, published);
  library.message_v5_callback_set(client, received);
  library.log_callback_set(client, logged);
  return client;
}

// libmosquitto writes to its socket in a way that sends SIGPIPE to the thread if the broker has gone. That signal is
// blocked meanwhile, and removed if it has come.
static bool block_signal(sigset_t *before) {
  sigset_t pipe, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe, before);
  return sigismember(&pending, SIGPIPE);
}

static void unblock_signal(const sigset_t *before, bool was_pending) {
  int code = errno;
  const struct timespec now = {0, 0};
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  if (!was_pending)
    while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR) {}
  pthread_sigmask(SIG_SETMASK, before, NULL);
  errno = code;
}

void quake_mosquitto_end(struct mosquitto *client) {
  sigset_t before;
  bool was_pending = block_signal(&before);
  struct owner *data = library.userdata(client);
  // The owner may have gone.
  library.disconnect_v5_callback_set(client, NULL);
  library.publish_v5_callback_set(client, NULL);
  library.log_callback_set(client, NULL);
  library.disconnect(client);
  library.destroy(client);
  free(data);
  unblock_signal(&before, was_pending);
}

int quake_mosquitto_set_user(struct mosquitto *client, const char *user, const char *password) {
  return library.username_pw_set(client, user, password);
}

int quake_mosquitto_set_tls(struct mosquitto *client, const char *authorities) {
  if (authorities) return library.tls_set(client, authorities, NULL, NULL, NULL, NULL);
  return library.int_option(client, option_system_authorities, 1);
}

int quake_mosquitto_connect(
    struct mosquitto *client, const char *host, int port, int keepalive, const char **reason) {
  sigset_t before;
  bool was_pending = block_signal(&before);
  errno = 0;
  int code = library.connect(client, host, port, keepalive);
  int number = errno;
  unblock_signal(&before, was_pending);
  *reason = code == 0                 ? NULL
            : code == error_is_errno  ? strerrordesc_np(number)
            : code == error_is_lookup ? gai_strerror(number)
                                      : library.strerror(code);
  int socket = library.socket(client);
  if (socket >= 0) fcntl(socket, F_SETFD, FD_CLOEXEC);
  return code;
}

int quake_mosquitto_socket(struct mosquitto *client) { return library.socket(client); }

// Whether the peer has closed the connection, or it has failed. libmosquitto does not notice that during a TLS handshake.
static bool has_ended(int socket) {
  char byte;
  ssize_t count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

int quake_mosquitto_run(struct mosquitto *client) {
  sigset_t before;
  bool was_pending = block_signal(&before);
  int code = library.loop_read(client, 1);
  if (code == 0 && library.want_write(client)) code = library.loop_write(client, 1);
  if (code == 0) code = library.loop_misc(client);
  int socket = library.socket(client);
  if (code == 0 && (socket < 0 || has_ended(socket))) code = error_is_lost;
  unblock_signal(&before, was_pending);
  return code;
}

bool quake_mosquitto_wants_write(struct mosquitto *client) { return library.want_write(client); }

int quake_mosquitto_publish(
    struct mosquitto *client, int *message, const char *topic, const void *payload, int count, int quality,
    bool is_retained, const char *content_type) {
  const struct owner *data = library.userdata(client);
  struct properties *properties = NULL;
  if (content_type && !data->is_old)
    library.property_add_string(&properties, property_content_type, content_type);
  sigset_t before;
  bool was_pending = block_signal(&before);
  int code =
      library.publish_v5(client, message, topic, count, payload, quality, is_retained, properties);
  unblock_signal(&before, was_pending);
  library.property_free_all(&properties);
  return code;
}

int quake_mosquitto_follow(struct mosquitto *client, const char *topic) {
  sigset_t before;
  bool was_pending = block_signal(&before);
  int code = library.subscribe(client, NULL, topic, at_least_once);
  unblock_signal(&before, was_pending);
  return code;
}

const char *quake_mosquitto_error_text(int code) { return library.strerror(code); }
