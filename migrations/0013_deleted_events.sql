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
