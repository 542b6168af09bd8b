-- oldest schema: 18
--
-- Consumers: named watchers that owe each message to a receiver until it has taken it.
--
-- A consumer's cursor is a row of quake.watcher, which holds a purge back. The transaction that moves the cursor also
-- inserts what is owed into quake.delivery and changes the conversations, so that no message is lost or made twice. A
-- message keeps its id in each attempt.

create table quake.consumer (
  name text not null,
  sink text not null,
  alert boolean not null default false,
  made_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  paused_at timestamptz,
  delivered bigint not null default 0,
  held_back bigint not null default 0,
  delivered_at timestamptz,
  rate double precision not null default 0,
  failed_at timestamptz,
  error text,
  rule text,
  constraint consumer_pkey primary key (name),
  constraint consumer_watcher foreign key (name) references quake.watcher (name) on update cascade on delete cascade,
  constraint consumer_counts check (delivered >= 0 and held_back >= 0),
  constraint consumer_text_length check (octet_length(sink) <= 4096 and octet_length(error) <= 4096
    and octet_length(rule) <= 4096)
);
comment on table quake.consumer is 'consumers: watchers that deliver messages to a receiver; the row of quake.watcher of the same name has the cursor';
comment on column quake.consumer.name is 'the consumer''s name';
comment on column quake.consumer.sink is 'what it delivers to, for people, without secrets';
comment on column quake.consumer.alert is 'whether it tells of earthquakes (quake.conversation) and not of changes';
comment on column quake.consumer.made_at is 'when the name was first used';
comment on column quake.consumer.changed_at is 'when somebody last paused, resumed or rewound it, or changed its deliveries by hand: its process then reads them anew';
comment on column quake.consumer.paused_at is 'since when it delivers nothing; null: it is not paused. What it owes goes on to be recorded, up to its limit';
comment on column quake.consumer.delivered is 'how many messages its receiver has taken';
comment on column quake.consumer.held_back is 'how many messages the limit of the rate has dropped';
comment on column quake.consumer.delivered_at is 'when its receiver last took a message';
comment on column quake.consumer.rate is 'how many messages an hour its receiver took of late, as of delivered_at; without further ones it falls by the factor e in an hour';
comment on column quake.consumer.failed_at is 'when an attempt last failed';
comment on column quake.consumer.error is 'why it failed';
comment on column quake.consumer.rule is 'how a client over HTTP wants to be told of earthquakes: a parameter on each line';

create table quake.conversation (
  consumer text not null,
  id text not null,
  code text not null,
  state text not null,
  messages integer not null default 0,
  passed_at timestamptz not null,
  told_at timestamptz,
  due_at timestamptz not null,
  muted boolean not null default false,
  told_code text,
  "time" timestamptz,
  magnitude double precision,
  depth double precision,
  latitude double precision,
  longitude double precision,
  place text,
  agency text,
  constraint conversation_pkey primary key (consumer, id),
  constraint conversation_consumer foreign key (consumer) references quake.consumer (name)
    on update cascade on delete cascade,
  constraint conversation_state check (state in ('waiting', 'open', 'retracted', 'closed')),
  constraint conversation_messages check (messages >= 0),
  constraint conversation_text_length check (
    octet_length(id) <= 64 and octet_length(code) <= 1024 and octet_length(told_code) <= 1024
    and octet_length(place) <= 65536 and octet_length(agency) <= 1024)
);
comment on table quake.conversation is 'what each alerting consumer has told of each earthquake';
comment on column quake.conversation.consumer is 'the consumer';
comment on column quake.conversation.id is 'token and position of the change by which the earthquake first passed: its id for life';
comment on column quake.conversation.code is 'the event that the earthquake is shown as';
comment on column quake.conversation.state is 'waiting: not told of yet; open; retracted: may come back; closed: nothing more is told';
comment on column quake.conversation.messages is 'the number of messages so far, with those of a muted one; the next one''s id is the conversation''s id, a dash and this number';
comment on column quake.conversation.passed_at is 'commit time of the change by which it first passed';
comment on column quake.conversation.told_at is 'commit time of what was told last; null: nothing yet';
comment on column quake.conversation.due_at is 'when its time is over: a waiting one is then told of, a closed one deleted, another one closed';
comment on column quake.conversation.muted is 'whether the limit of the rate has dropped its first message: nothing is told of it';
comment on column quake.conversation.told_code is 'the event that it was shown as when it was told last';
comment on column quake.conversation."time" is 'the origin time that was told last';
comment on column quake.conversation.magnitude is 'the magnitude that was told last';
comment on column quake.conversation.depth is 'the hypocentre''s depth that was told last, in km';
comment on column quake.conversation.latitude is 'the latitude that was told last';
comment on column quake.conversation.longitude is 'the longitude that was told last';
comment on column quake.conversation.place is 'the place that was told last';
comment on column quake.conversation.agency is 'the agency that was told last (quake.source)';
create index conversation_due on quake.conversation (consumer, due_at);

create table quake.conversation_event (
  consumer text not null,
  code text not null,
  conversation text not null,
  constraint conversation_event_pkey primary key (consumer, code),
  constraint conversation_event_conversation foreign key (consumer, conversation)
    references quake.conversation (consumer, id) on update cascade on delete cascade,
  constraint conversation_event_text_length check (octet_length(code) <= 1024)
);
comment on table quake.conversation_event is 'the events that are the earthquake of a conversation';
comment on column quake.conversation_event.consumer is 'the consumer';
comment on column quake.conversation_event.code is 'an event that is or was the earthquake (quake.code)';
comment on column quake.conversation_event.conversation is 'the conversation''s id';
create index conversation_event_of on quake.conversation_event (consumer, conversation);

create table quake.conversation_past (
  consumer text not null,
  conversation text not null,
  token bigint not null,
  before jsonb not null,
  constraint conversation_past_pkey primary key (consumer, conversation, token),
  constraint conversation_past_conversation foreign key (consumer, conversation)
    references quake.conversation (consumer, id) on update cascade on delete cascade
);
comment on table quake.conversation_past is 'how conversations were before they changed, for quake-admin consumers rewind';
comment on column quake.conversation_past.consumer is 'the consumer';
comment on column quake.conversation_past.conversation is 'the conversation''s id';
comment on column quake.conversation_past.token is 'number of the transaction that changed it, or after which it was due';
comment on column quake.conversation_past.before is 'its columns and events (codes) as they were before';

create table quake.delivery (
  number bigint generated always as identity,
  consumer text not null,
  id text not null,
  subject text not null,
  kind text not null,
  token text not null,
  made_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  tried_for interval not null default '0',
  due_at timestamptz,
  parked_at timestamptz,
  reason text,
  variables text not null,
  data text not null,
  constraint delivery_pkey primary key (consumer, number),
  constraint delivery_id unique (consumer, id),
  constraint delivery_consumer foreign key (consumer) references quake.consumer (name)
    on update cascade on delete cascade,
  constraint delivery_kind check (kind in ('change', 'opened', 'updated', 'retracted', 'closed')),
  constraint delivery_attempts check (attempts >= 0),
  constraint delivery_text_length check (
    octet_length(id) <= 64 and octet_length(subject) <= 1024 and octet_length(token) <= 64
    and octet_length(reason) <= 4096 and octet_length(variables) <= 16777216 and octet_length(data) <= 16777216)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table quake.delivery is 'the messages that consumers owe: a row is deleted when the receiver has taken its message';
comment on column quake.delivery.number is 'the order in which the messages were made';
comment on column quake.delivery.consumer is 'the consumer';
comment on column quake.delivery.id is 'the message''s id, the same in each attempt';
comment on column quake.delivery.subject is 'the conversation, or the event''s code: messages with the same subject are delivered in order';
comment on column quake.delivery.kind is 'what the message tells: a change, or what a conversation does';
comment on column quake.delivery.token is 'token of the transaction that it tells of';
comment on column quake.delivery.made_at is 'when it was made, or put on the way again by hand';
comment on column quake.delivery.attempts is 'how many attempts have failed';
comment on column quake.delivery.tried_for is 'how long it has been tried since its first attempt, without the time in which the consumer was paused or not run';
comment on column quake.delivery.due_at is 'when to try again; null: at once';
comment on column quake.delivery.parked_at is 'when the attempts were given up; null: they were not';
comment on column quake.delivery.reason is 'why the last attempt failed';
comment on column quake.delivery.variables is 'the values for commands and templates, one NAME=value on a line';
comment on column quake.delivery.data is 'the message as JSON';

-- As with cursors: every role that may read the tables sees all consumers, and only the role of the cursor changes them.
alter table quake.consumer enable row level security;
create policy consumer_seen on quake.consumer for select using (true);
create policy consumer_changed on quake.consumer using (
  exists (select from quake.watcher w where w.name = consumer.name and (w.role is null or w.role = current_user)));
alter table quake.conversation enable row level security;
create policy conversation_seen on quake.conversation for select using (true);
create policy conversation_changed on quake.conversation using (
  exists (select from quake.watcher w where w.name = conversation.consumer and (w.role is null or w.role = current_user)));
alter table quake.conversation_event enable row level security;
create policy conversation_event_seen on quake.conversation_event for select using (true);
create policy conversation_event_changed on quake.conversation_event using (
  exists (select from quake.watcher w where w.name = conversation_event.consumer and (w.role is null or w.role = current_user)));
alter table quake.conversation_past enable row level security;
create policy conversation_past_seen on quake.conversation_past for select using (true);
create policy conversation_past_changed on quake.conversation_past using (
  exists (select from quake.watcher w where w.name = conversation_past.consumer and (w.role is null or w.role = current_user)));
alter table quake.delivery enable row level security;
create policy delivery_seen on quake.delivery for select using (true);
create policy delivery_changed on quake.delivery using (
  exists (select from quake.watcher w where w.name = delivery.consumer and (w.role is null or w.role = current_user)));
