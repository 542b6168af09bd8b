-- How far the fetching of the past has come, so that it goes on where it was stopped.
--
-- A window or file is marked as done in the transaction that stores its events: it is done, or it is
-- to be asked for, and never both. Windows do not overlap and cover the whole span; one that turns
-- out to hold too many events is cut in two.

create table quake.backfill (
  id bigint generated always as identity,
  url text not null,
  source text,
  start_time timestamptz,
  end_time timestamptz,
  min_magnitude double precision,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  expected bigint,
  seen bigint not null default 0,
  inserted bigint not null default 0,
  updated bigint not null default 0,
  unchanged bigint not null default 0,
  rejected bigint not null default 0,
  duplicate bigint not null default 0,
  constraint backfill_pkey primary key (id),
  constraint backfill_span_whole check ((start_time is null) = (end_time is null)),
  constraint backfill_span_order check (start_time < end_time),
  constraint backfill_counts_whole check (seen = inserted + updated + unchanged + rejected + duplicate)
);

comment on table quake.backfill is 'fetches of the past: one row for each span of time asked of an event service, and for each folder or file';
comment on column quake.backfill.id is 'number of the backfill';
comment on column quake.backfill.url is 'base address of the event service, without user name and password, or the absolute path of the folder or file';
comment on column quake.backfill.source is 'the data centre, as in quake.source; null: the files say it themselves';
comment on column quake.backfill.start_time is 'origin time from which on events are asked for; null for files';
comment on column quake.backfill.end_time is 'origin time before which events are asked for; null for files';
comment on column quake.backfill.min_magnitude is 'least magnitude asked for; null: all events, also those without a magnitude';
comment on column quake.backfill.started_at is 'when it was begun';
comment on column quake.backfill.finished_at is 'when the last of it was stored; null: it is under way, or was stopped and can be gone on with';
comment on column quake.backfill.expected is 'how many events the service said that the span holds, when it was begun; null: not known';
comment on column quake.backfill.seen is 'records received: the sum of inserted, updated, unchanged, rejected and duplicate; an event on the border of two windows counts in both';
comment on column quake.backfill.inserted is 'events that were new';
comment on column quake.backfill.updated is 'events whose contents differed';
comment on column quake.backfill.unchanged is 'events left untouched';
comment on column quake.backfill.rejected is 'records that could not be taken; see import_reject';
comment on column quake.backfill.duplicate is 'records whose code came again later in the same answer';

create table quake.backfill_window (
  backfill_id bigint not null,
  start_time timestamptz not null,
  end_time timestamptz not null,
  state text not null default 'pending',
  count bigint,
  import_id bigint,
  finished_at timestamptz,
  constraint backfill_window_pkey primary key (backfill_id, start_time),
  constraint backfill_window_backfill foreign key (backfill_id) references quake.backfill (id) on delete cascade,
  constraint backfill_window_span_order check (start_time < end_time),
  constraint backfill_window_state_known check (state in ('pending', 'done')),
  constraint backfill_window_state_finished check ((state = 'done') = (finished_at is not null)),
  constraint backfill_window_count check (count >= 0)
);

comment on table quake.backfill_window is 'the windows of time that a backfill asks for one by one; together they cover its span';
comment on column quake.backfill_window.backfill_id is 'the backfill (backfill.id)';
comment on column quake.backfill_window.start_time is 'origin time from which on the window holds events';
comment on column quake.backfill_window.end_time is 'origin time before which it does';
comment on column quake.backfill_window.state is 'pending: to be asked for; done: its events are stored, and it is not asked for again';
comment on column quake.backfill_window.count is 'while pending, how many events the service says it holds; once done, how many records came; null: not known';
comment on column quake.backfill_window.import_id is 'the import that stored its events (import.id); null: pending';
comment on column quake.backfill_window.finished_at is 'when they were stored';

create table quake.backfill_file (
  path text not null,
  backfill_id bigint not null,
  size bigint not null,
  modified_at timestamptz not null,
  import_id bigint,
  finished_at timestamptz not null,
  constraint backfill_file_pkey primary key (path),
  constraint backfill_file_backfill foreign key (backfill_id) references quake.backfill (id) on delete cascade,
  constraint backfill_file_size check (size >= 0)
);
create index backfill_file_backfill on quake.backfill_file (backfill_id);

comment on table quake.backfill_file is 'the files that backfills have stored; one of the same path, size and time of modification is not read again';
comment on column quake.backfill_file.path is 'absolute path, as the machine sees it that ran the backfill';
comment on column quake.backfill_file.backfill_id is 'the backfill that stored it last (backfill.id)';
comment on column quake.backfill_file.size is 'its size then, bytes';
comment on column quake.backfill_file.modified_at is 'when it had been modified last';
comment on column quake.backfill_file.import_id is 'the import that stored its events (import.id)';
comment on column quake.backfill_file.finished_at is 'when they were stored';
