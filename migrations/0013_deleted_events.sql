-- Events that their agency has deleted: an import withdraws them, as it withdraws events that feeds lack. The
-- status or the type of such an event gives the reason.

comment on column quake.quake.type is 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
comment on column quake.quake.status is 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
comment on column quake.quake.withdrawn_at is 'state of our own: when the event was withdrawn, because feeds that should hold it do not, or because its agency has deleted it (status, type); null: it is not withdrawn';
comment on column quake.current_quake.type is 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
comment on column quake.current_quake.status is 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
comment on column quake.current_quake.withdrawn_at is 'state of our own: when the event was withdrawn, because feeds that should hold it do not, or because its agency has deleted it (status, type); null: it is not withdrawn';
comment on column quake.quake_version.type is 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
comment on column quake.quake_version.status is 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
comment on column quake.quake_version.withdrawn_at is 'state of our own: when the event was withdrawn, because feeds that should hold it do not, or because its agency has deleted it (status, type); null: it is not withdrawn';
comment on column quake.change.type is 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
comment on column quake.change.status is 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
comment on column quake.change.withdrawn_at is 'state of our own: when the event was withdrawn, because feeds that should hold it do not, or because its agency has deleted it (status, type); null: it is not withdrawn';
comment on column quake.live.type is 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
comment on column quake.live.status is 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
comment on table quake.absence is 'events that were missing from the latest good snapshots that should have held them, or that their agency has deleted';
comment on column quake.absence.feed is 'the feed that it is missing from (all_day), whatever its address, or whose import says that it was deleted';
comment on column quake.absence.snapshots is 'number of successive snapshots from which it was missing; 1 if its agency has deleted it';
comment on column quake.import.withdrawn is 'events that were withdrawn, because they had been missing from several snapshots or because their agency has deleted them (quake.withdrawn_at)';

-- Before, such an event was stored like any other. Its agency can still revive it.
with gone as (
  update quake.quake q
     set withdrawn_at = now(),
         type = case when lower(q.type collate "C") = 'not_existing' then 'not existing' else q.type end
   where q.withdrawn_at is null and q.superseded_by is null
     and (lower(q.status collate "C") in ('deleted', 'rejected')
          or lower(q.type collate "C") in ('not existing', 'not_existing'))
  returning q.code, q.source, q.withdrawn_at
)
insert into quake.absence (code, feed, snapshots, since, withdrawn_at)
select g.code, g.source, 1, g.withdrawn_at, g.withdrawn_at from gone g
on conflict (code, feed) do update set withdrawn_at = excluded.withdrawn_at;
