-- Associations: events of different sources that are the same earthquake.
--
-- The rows stay as they are. One event of an earthquake is its preferred solution; the others get its code in
-- superseded_by, so that every list and count shows the earthquake once and the history records each
-- association. A source decides about the identity of its own events by their ids, so no two events of one
-- source are ever associated.
--
-- The triggers at the end only note which events have changed. They are disabled until
-- "quake-admin associations enable", so that a store with one source does no work for this.

create table quake.association_settings (
  single boolean not null default true,
  enabled boolean not null default false,
  time_window double precision not null default 16,
  distance_window double precision not null default 100,
  magnitude_window double precision not null default 1.5,
  loose_factor double precision not null default 1.5,
  constraint association_settings_pkey primary key (single),
  constraint association_settings_single check (single),
  constraint association_settings_time_window_range check (time_window between 0.001 and 600),
  constraint association_settings_distance_window_range check (distance_window between 0.001 and 2000),
  constraint association_settings_magnitude_window_range check (magnitude_window between 0.001 and 22),
  constraint association_settings_loose_factor_range check (loose_factor between 1 and 10)
);
insert into quake.association_settings default values;

comment on table quake.association_settings is 'whether events of different sources are associated, and how near they must be: one row';
comment on column quake.association_settings.single is 'always true, so that there is one row only';
comment on column quake.association_settings.enabled is 'whether events are associated; "quake-admin associations enable" and "disable" change it, together with the triggers';
comment on column quake.association_settings.time_window is 'largest difference of the origin times, seconds';
comment on column quake.association_settings.distance_window is 'largest distance of the epicentres, kilometres';
comment on column quake.association_settings.magnitude_window is 'largest difference of the magnitudes, of whatever types; an event without a magnitude may be associated with any';
comment on column quake.association_settings.loose_factor is 'the windows of time and distance are this much wider if either solution is automatic or at least 70 km deep';

-- A region is a box; that of the whole Earth has the general order.
create table quake.association_preference (
  west double precision not null,
  south double precision not null,
  east double precision not null,
  north double precision not null,
  sources text[] not null,
  constraint association_preference_pkey primary key (west, south, east, north),
  constraint association_preference_longitudes check (west between -180 and 180 and east between -180 and 180),
  constraint association_preference_latitudes check (south between -90 and north and north between south and 90),
  constraint association_preference_sources_count check (cardinality(sources) between 1 and 100),
  constraint association_preference_sources_length check (octet_length(array_to_string(sources, ',', '')) <= 65536)
);
insert into quake.association_preference values (-180, -90, 180, 90, '{usgs}');

comment on table quake.association_preference is 'which sources are preferred, by region; the smallest region that contains the earthquake counts';
comment on column quake.association_preference.west is 'west edge, degrees; a region whose west edge lies east of its east edge crosses the 180th meridian';
comment on column quake.association_preference.south is 'south edge, degrees';
comment on column quake.association_preference.east is 'east edge, degrees';
comment on column quake.association_preference.north is 'north edge, degrees';
comment on column quake.association_preference.sources is 'sources (quake.source), the most preferred first; all others come after them, in the general order, then by name';

create table quake.association (
  code text not null,
  preferred text not null,
  since timestamptz not null default now(),
  constraint association_pkey primary key (code),
  constraint association_short_text_length check (
    greatest(octet_length(code), octet_length(preferred)) <= 1024)
);
create index association_preferred on quake.association (preferred);

comment on table quake.association is 'events of different sources that are the same earthquake: one row for each event of an earthquake that has several';
comment on column quake.association.code is 'the event (quake.code)';
comment on column quake.association.preferred is 'the event that lists show for the earthquake; equal to code in the row of that event, and the superseded_by of the others';
comment on column quake.association.since is 'since when the event has been associated with this preferred event';

create table quake.association_pin (
  code text not null,
  other text not null,
  together boolean not null,
  author text,
  decided_at timestamptz not null default now(),
  constraint association_pin_pkey primary key (code, other),
  constraint association_pin_order check (code collate "C" < other collate "C"),
  constraint association_pin_short_text_length check (
    greatest(octet_length(code), octet_length(other), octet_length(author)) <= 1024)
);
create index association_pin_other on quake.association_pin (other);

comment on table quake.association_pin is 'what persons have decided about pairs of events; it holds whatever their times, places and magnitudes are';
comment on column quake.association_pin.code is 'one event (quake.code), that whose code comes first';
comment on column quake.association_pin.other is 'the other event';
comment on column quake.association_pin.together is 'true: they are the same earthquake; false: they are not';
comment on column quake.association_pin.author is 'who decided it';
comment on column quake.association_pin.decided_at is 'when it was decided';

-- No key: a row is written for each change, and one event may have several.
create table quake.association_pending (
  code text not null
);
comment on table quake.association_pending is 'events that changed since they were last compared with those of other sources';
comment on column quake.association_pending.code is 'the event (quake.code); it may have been deleted';

create function quake.others(code text) returns text[]
  language sql stable parallel safe
begin atomic
  select array_agg(a.code order by a.code)
    from quake.association a where a.preferred = others.code and a.code <> others.code;
end;
comment on function quake.others(text) is 'the events of other sources that are the same earthquake as this preferred event; null: none';

create function quake.solutions(p_id text) returns setof quake.event
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select q.code, q.net, q.net_code, q.source, q.type, q.status, q.magnitude, q.magnitude_type,
         q.place, q.time, q.updated, q.longitude, q.latitude, q.depth, q.title, q.url,
         q.detail, q.felt, q.cdi, q.mmi, q.alert, q.tsunami, q.sig, q.nst, q.dmin, q.rms,
         q.gap, q.ids, q.sources, q.types, q.as_of, q.validated, q.withdrawn_at,
         q.superseded_by, q.first_stored
    from quake.find(p_id) p
   cross join lateral unnest(array[p.code] || coalesce(quake.others(p.code), '{}')) s (code)
    join quake.quake q on q.code = s.code
   order by q.code <> p.code, q.source, q.code
$$;
comment on function quake.solutions(text) is 'all events of the earthquake that has or had this id, the preferred one first';

-- Noting changes

create function quake.quake__note_for_association() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set enable_nestloop = off
  set jit = off
as $$
begin
  case tg_op
    when 'INSERT' then
      insert into quake.association_pending (code) select n.code from new_rows n;
    when 'UPDATE' then
      insert into quake.association_pending (code)
      select n.code
        from old_rows o join new_rows n on n.code = o.code
       where (o.source, o.status, o.magnitude, o.time, o.longitude, o.latitude, o.depth, o.withdrawn_at,
              o.superseded_by)
             is distinct from
             (n.source, n.status, n.magnitude, n.time, n.longitude, n.latitude, n.depth, n.withdrawn_at,
              n.superseded_by);
    when 'DELETE' then
      insert into quake.association_pending (code) select o.code from old_rows o;
    else
      insert into quake.association_pending (code) select a.code from quake.association a;
  end case;
  return null;
end
$$;
comment on function quake.quake__note_for_association() is 'notes the events of a statement in association_pending';
revoke all on function quake.quake__note_for_association() from public;

-- The setting is on while associations are written: these changes need no other comparison. A client that
-- sets it only delays the comparison of its own events.
create trigger quake_30_note_insert
  after insert on quake.quake referencing new table as new_rows
  for each statement when (current_setting('quake.associating', true) is distinct from 'on')
  execute function quake.quake__note_for_association();
create trigger quake_30_note_update
  after update on quake.quake referencing old table as old_rows new table as new_rows
  for each statement when (current_setting('quake.associating', true) is distinct from 'on')
  execute function quake.quake__note_for_association();
create trigger quake_30_note_delete
  after delete on quake.quake referencing old table as old_rows
  for each statement when (current_setting('quake.associating', true) is distinct from 'on')
  execute function quake.quake__note_for_association();
create trigger quake_30_note_truncate
  after truncate on quake.quake
  for each statement when (current_setting('quake.associating', true) is distinct from 'on')
  execute function quake.quake__note_for_association();

alter table quake.quake disable trigger quake_30_note_insert;
alter table quake.quake disable trigger quake_30_note_update;
alter table quake.quake disable trigger quake_30_note_delete;
alter table quake.quake disable trigger quake_30_note_truncate;
