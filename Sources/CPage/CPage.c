// Made by deploy/page-assets.pl ("make page-assets").
#include "CPage.h"

#ifndef __has_embed
#error "The compiler does not know #embed of C23: Swift 6.2 or later is needed."
#endif

// In other modes than C23 the compiler has it as an extension.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file0[] = {
#embed "web/charts/charts.js"
};
static const unsigned char file1[] = {
#embed "web/charts/frequency-chart.js"
};
static const unsigned char file2[] = {
#embed "web/charts/plot.js"
};
static const unsigned char file3[] = {
#embed "web/charts/rate-chart.js"
};
static const unsigned char file4[] = {
#embed "web/charts/sample.js"
};
static const unsigned char file5[] = {
#embed "web/charts/statistics.js"
};
static const unsigned char file6[] = {
#embed "web/charts/ticks.js"
};
static const unsigned char file7[] = {
#embed "web/charts/time-chart.js"
};
static const unsigned char file8[] = {
#embed "web/data/api-error.js"
};
static const unsigned char file9[] = {
#embed "web/data/api.js"
};
static const unsigned char file10[] = {
#embed "web/data/connection.js"
};
static const unsigned char file11[] = {
#embed "web/data/feed.js"
};
static const unsigned char file12[] = {
#embed "web/data/filter.js"
};
static const unsigned char file13[] = {
#embed "web/data/first.js"
};
static const unsigned char file14[] = {
#embed "web/data/last-look.js"
};
static const unsigned char file15[] = {
#embed "web/data/link.js"
};
static const unsigned char file16[] = {
#embed "web/data/messages.js"
};
static const unsigned char file17[] = {
#embed "web/data/order.js"
};
static const unsigned char file18[] = {
#embed "web/data/pace.js"
};
static const unsigned char file19[] = {
#embed "web/data/quake-set.js"
};
static const unsigned char file20[] = {
#embed "web/data/query.js"
};
static const unsigned char file21[] = {
#embed "web/data/reason.js"
};
static const unsigned char file22[] = {
#embed "web/data/rows.js"
};
static const unsigned char file23[] = {
#embed "web/data/selecting.js"
};
static const unsigned char file24[] = {
#embed "web/data/served.js"
};
static const unsigned char file25[] = {
#embed "web/data/sorted-list.js"
};
static const unsigned char file26[] = {
#embed "web/data/sorting.js"
};
static const unsigned char file27[] = {
#embed "web/data/store.js"
};
static const unsigned char file28[] = {
#embed "web/data/totals.js"
};
static const unsigned char file29[] = {
#embed "web/data/worker.js"
};
static const unsigned char file30[] = {
#embed "web/detail/bar.js"
};
static const unsigned char file31[] = {
#embed "web/detail/content.js"
};
static const unsigned char file32[] = {
#embed "web/detail/detail.js"
};
static const unsigned char file33[] = {
#embed "web/detail/distance.js"
};
static const unsigned char file34[] = {
#embed "web/detail/fields.js"
};
static const unsigned char file35[] = {
#embed "web/detail/links.js"
};
static const unsigned char file36[] = {
#embed "web/detail/neighbours.js"
};
static const unsigned char file37[] = {
#embed "web/detail/record.js"
};
static const unsigned char file38[] = {
#embed "web/detail/sparkline.js"
};
static const unsigned char file39[] = {
#embed "web/detail/timeline.js"
};
static const unsigned char file40[] = {
#embed "web/detail/trail.js"
};
static const unsigned char file41[] = {
#embed "web/detail/words.js"
};
static const unsigned char file42[] = {
#embed "web/embed.html"
};
static const unsigned char file43[] = {
#embed "web/embed.js"
};
static const unsigned char file44[] = {
#embed "web/filters/active.js"
};
static const unsigned char file45[] = {
#embed "web/filters/filters.js"
};
static const unsigned char file46[] = {
#embed "web/filters/panel.js"
};
static const unsigned char file47[] = {
#embed "web/frame/alerts.js"
};
static const unsigned char file48[] = {
#embed "web/frame/dock.js"
};
static const unsigned char file49[] = {
#embed "web/frame/help.js"
};
static const unsigned char file50[] = {
#embed "web/frame/keys.js"
};
static const unsigned char file51[] = {
#embed "web/frame/sheet.js"
};
static const unsigned char file52[] = {
#embed "web/frame/summary.js"
};
static const unsigned char file53[] = {
#embed "web/frame/theme.js"
};
static const unsigned char file54[] = {
#embed "web/frame/upgrade.js"
};
static const unsigned char file55[] = {
#embed "web/header/connection.js"
};
static const unsigned char file56[] = {
#embed "web/header/deleted.js"
};
static const unsigned char file57[] = {
#embed "web/header/edit-bar.js"
};
static const unsigned char file58[] = {
#embed "web/header/edits.js"
};
static const unsigned char file59[] = {
#embed "web/header/header.js"
};
static const unsigned char file60[] = {
#embed "web/header/refresh.js"
};
static const unsigned char file61[] = {
#embed "web/header/settings.js"
};
static const unsigned char file62[] = {
#embed "web/header/share.js"
};
static const unsigned char file63[] = {
#embed "web/header/token.js"
};
static const unsigned char file64[] = {
#embed "web/header/tools.js"
};
static const unsigned char file65[] = {
#embed "web/icon.svg"
};
static const unsigned char file66[] = {
#embed "web/index.html"
};
static const unsigned char file67[] = {
#embed "web/list/badges.js"
};
static const unsigned char file68[] = {
#embed "web/list/bar.js"
};
static const unsigned char file69[] = {
#embed "web/list/keys.js"
};
static const unsigned char file70[] = {
#embed "web/list/list.js"
};
static const unsigned char file71[] = {
#embed "web/list/marks.js"
};
static const unsigned char file72[] = {
#embed "web/list/row.js"
};
static const unsigned char file73[] = {
#embed "web/list/selection.js"
};
static const unsigned char file74[] = {
#embed "web/list/states.js"
};
static const unsigned char file75[] = {
#embed "web/list/tip.js"
};
static const unsigned char file76[] = {
#embed "web/list/window.js"
};
static const unsigned char file77[] = {
#embed "web/live/back-off.js"
};
static const unsigned char file78[] = {
#embed "web/live/change-stream.js"
};
static const unsigned char file79[] = {
#embed "web/live/clients.js"
};
static const unsigned char file80[] = {
#embed "web/live/differences.js"
};
static const unsigned char file81[] = {
#embed "web/live/engine.js"
};
static const unsigned char file82[] = {
#embed "web/live/event-source.js"
};
static const unsigned char file83[] = {
#embed "web/live/health.js"
};
static const unsigned char file84[] = {
#embed "web/live/load.js"
};
static const unsigned char file85[] = {
#embed "web/live/outbox.js"
};
static const unsigned char file86[] = {
#embed "web/live/past.js"
};
static const unsigned char file87[] = {
#embed "web/live/read-text.js"
};
static const unsigned char file88[] = {
#embed "web/live/row-set.js"
};
static const unsigned char file89[] = {
#embed "web/live/selection.js"
};
static const unsigned char file90[] = {
#embed "web/live/status.js"
};
static const unsigned char file91[] = {
#embed "web/live/table.js"
};
static const unsigned char file92[] = {
#embed "web/main.js"
};
static const unsigned char file93[] = {
#embed "web/map/camera.js"
};
static const unsigned char file94[] = {
#embed "web/map/controls.js"
};
static const unsigned char file95[] = {
#embed "web/map/events.js"
};
static const unsigned char file96[] = {
#embed "web/map/follow-store.js"
};
static const unsigned char file97[] = {
#embed "web/map/gestures.js"
};
static const unsigned char file98[] = {
#embed "web/map/grid.js"
};
static const unsigned char file99[] = {
#embed "web/map/layers.js"
};
static const unsigned char file100[] = {
#embed "web/map/legend.js"
};
static const unsigned char file101[] = {
#embed "web/map/map.js"
};
static const unsigned char file102[] = {
#embed "web/map/motion.js"
};
static const unsigned char file103[] = {
#embed "web/map/projection.js"
};
static const unsigned char file104[] = {
#embed "web/map/scale.js"
};
static const unsigned char file105[] = {
#embed "web/map/screen.js"
};
static const unsigned char file106[] = {
#embed "web/map/tiles.js"
};
static const unsigned char file107[] = {
#embed "web/map/tooltip.js"
};
static const unsigned char file108[] = {
#embed "web/marks/box.js"
};
static const unsigned char file109[] = {
#embed "web/marks/flashes.js"
};
static const unsigned char file110[] = {
#embed "web/marks/overlay.js"
};
static const unsigned char file111[] = {
#embed "web/marks/trail.js"
};
static const unsigned char file112[] = {
#embed "web/painter/canvas.js"
};
static const unsigned char file113[] = {
#embed "web/painter/graticule.js"
};
static const unsigned char file114[] = {
#embed "web/painter/ground.js"
};
static const unsigned char file115[] = {
#embed "web/painter/land-110m.bin"
};
static const unsigned char file116[] = {
#embed "web/painter/land-50m.bin"
};
static const unsigned char file117[] = {
#embed "web/painter/land.js"
};
static const unsigned char file118[] = {
#embed "web/painter/painter.js"
};
static const unsigned char file119[] = {
#embed "web/painter/points.js"
};
static const unsigned char file120[] = {
#embed "web/painter/sprites.js"
};
static const unsigned char file121[] = {
#embed "web/painter/types.js"
};
static const unsigned char file122[] = {
#embed "web/rest.js"
};
static const unsigned char file123[] = {
#embed "web/state/settings.js"
};
static const unsigned char file124[] = {
#embed "web/state/view-address.js"
};
static const unsigned char file125[] = {
#embed "web/state/view.js"
};
static const unsigned char file126[] = {
#embed "web/style/base.css"
};
static const unsigned char file127[] = {
#embed "web/style/charts.css"
};
static const unsigned char file128[] = {
#embed "web/style/detail.css"
};
static const unsigned char file129[] = {
#embed "web/style/dialogs.css"
};
static const unsigned char file130[] = {
#embed "web/style/embed.css"
};
static const unsigned char file131[] = {
#embed "web/style/filters.css"
};
static const unsigned char file132[] = {
#embed "web/style/header.css"
};
static const unsigned char file133[] = {
#embed "web/style/layout.css"
};
static const unsigned char file134[] = {
#embed "web/style/list.css"
};
static const unsigned char file135[] = {
#embed "web/style/map.css"
};
static const unsigned char file136[] = {
#embed "web/style/time.css"
};
static const unsigned char file137[] = {
#embed "web/style/tokens.css"
};
static const unsigned char file138[] = {
#embed "web/text/de.js"
};
static const unsigned char file139[] = {
#embed "web/text/en.js"
};
static const unsigned char file140[] = {
#embed "web/text/es.js"
};
static const unsigned char file141[] = {
#embed "web/text/format.js"
};
static const unsigned char file142[] = {
#embed "web/text/locale.js"
};
static const unsigned char file143[] = {
#embed "web/text/point.js"
};
static const unsigned char file144[] = {
#embed "web/text/text.js"
};
static const unsigned char file145[] = {
#embed "web/time/changes.js"
};
static const unsigned char file146[] = {
#embed "web/time/controls.js"
};
static const unsigned char file147[] = {
#embed "web/time/history.js"
};
static const unsigned char file148[] = {
#embed "web/time/journey.js"
};
static const unsigned char file149[] = {
#embed "web/time/player.js"
};
static const unsigned char file150[] = {
#embed "web/time/slider.js"
};
static const unsigned char file151[] = {
#embed "web/time/time.js"
};
static const unsigned char file152[] = {
#embed "web/time/what-changed.js"
};
static const unsigned char file153[] = {
#embed "web/types.js"
};
static const unsigned char file154[] = {
#embed "web/ui/button.js"
};
static const unsigned char file155[] = {
#embed "web/ui/copy.js"
};
static const unsigned char file156[] = {
#embed "web/ui/dialogs.js"
};
static const unsigned char file157[] = {
#embed "web/ui/dom.js"
};
static const unsigned char file158[] = {
#embed "web/ui/failure.js"
};
static const unsigned char file159[] = {
#embed "web/ui/icons.js"
};
static const unsigned char file160[] = {
#embed "web/ui/part.js"
};
static const unsigned char file161[] = {
#embed "web/ui/server.js"
};
static const unsigned char file162[] = {
#embed "web/ui/sign.js"
};
static const unsigned char file163[] = {
#embed "web/ui/toasts.js"
};

static const struct quake_page_asset assets[] = {
    {"charts/charts.js", file0, sizeof file0},
    {"charts/frequency-chart.js", file1, sizeof file1},
    {"charts/plot.js", file2, sizeof file2},
    {"charts/rate-chart.js", file3, sizeof file3},
    {"charts/sample.js", file4, sizeof file4},
    {"charts/statistics.js", file5, sizeof file5},
    {"charts/ticks.js", file6, sizeof file6},
    {"charts/time-chart.js", file7, sizeof file7},
    {"data/api-error.js", file8, sizeof file8},
    {"data/api.js", file9, sizeof file9},
    {"data/connection.js", file10, sizeof file10},
    {"data/feed.js", file11, sizeof file11},
    {"data/filter.js", file12, sizeof file12},
    {"data/first.js", file13, sizeof file13},
    {"data/last-look.js", file14, sizeof file14},
    {"data/link.js", file15, sizeof file15},
    {"data/messages.js", file16, sizeof file16},
    {"data/order.js", file17, sizeof file17},
    {"data/pace.js", file18, sizeof file18},
    {"data/quake-set.js", file19, sizeof file19},
    {"data/query.js", file20, sizeof file20},
    {"data/reason.js", file21, sizeof file21},
    {"data/rows.js", file22, sizeof file22},
    {"data/selecting.js", file23, sizeof file23},
    {"data/served.js", file24, sizeof file24},
    {"data/sorted-list.js", file25, sizeof file25},
    {"data/sorting.js", file26, sizeof file26},
    {"data/store.js", file27, sizeof file27},
    {"data/totals.js", file28, sizeof file28},
    {"data/worker.js", file29, sizeof file29},
    {"detail/bar.js", file30, sizeof file30},
    {"detail/content.js", file31, sizeof file31},
    {"detail/detail.js", file32, sizeof file32},
    {"detail/distance.js", file33, sizeof file33},
    {"detail/fields.js", file34, sizeof file34},
    {"detail/links.js", file35, sizeof file35},
    {"detail/neighbours.js", file36, sizeof file36},
    {"detail/record.js", file37, sizeof file37},
    {"detail/sparkline.js", file38, sizeof file38},
    {"detail/timeline.js", file39, sizeof file39},
    {"detail/trail.js", file40, sizeof file40},
    {"detail/words.js", file41, sizeof file41},
    {"embed.html", file42, sizeof file42},
    {"embed.js", file43, sizeof file43},
    {"filters/active.js", file44, sizeof file44},
    {"filters/filters.js", file45, sizeof file45},
    {"filters/panel.js", file46, sizeof file46},
    {"frame/alerts.js", file47, sizeof file47},
    {"frame/dock.js", file48, sizeof file48},
    {"frame/help.js", file49, sizeof file49},
    {"frame/keys.js", file50, sizeof file50},
    {"frame/sheet.js", file51, sizeof file51},
    {"frame/summary.js", file52, sizeof file52},
    {"frame/theme.js", file53, sizeof file53},
    {"frame/upgrade.js", file54, sizeof file54},
    {"header/connection.js", file55, sizeof file55},
    {"header/deleted.js", file56, sizeof file56},
    {"header/edit-bar.js", file57, sizeof file57},
    {"header/edits.js", file58, sizeof file58},
    {"header/header.js", file59, sizeof file59},
    {"header/refresh.js", file60, sizeof file60},
    {"header/settings.js", file61, sizeof file61},
    {"header/share.js", file62, sizeof file62},
    {"header/token.js", file63, sizeof file63},
    {"header/tools.js", file64, sizeof file64},
    {"icon.svg", file65, sizeof file65},
    {"index.html", file66, sizeof file66},
    {"list/badges.js", file67, sizeof file67},
    {"list/bar.js", file68, sizeof file68},
    {"list/keys.js", file69, sizeof file69},
    {"list/list.js", file70, sizeof file70},
    {"list/marks.js", file71, sizeof file71},
    {"list/row.js", file72, sizeof file72},
    {"list/selection.js", file73, sizeof file73},
    {"list/states.js", file74, sizeof file74},
    {"list/tip.js", file75, sizeof file75},
    {"list/window.js", file76, sizeof file76},
    {"live/back-off.js", file77, sizeof file77},
    {"live/change-stream.js", file78, sizeof file78},
    {"live/clients.js", file79, sizeof file79},
    {"live/differences.js", file80, sizeof file80},
    {"live/engine.js", file81, sizeof file81},
    {"live/event-source.js", file82, sizeof file82},
    {"live/health.js", file83, sizeof file83},
    {"live/load.js", file84, sizeof file84},
    {"live/outbox.js", file85, sizeof file85},
    {"live/past.js", file86, sizeof file86},
    {"live/read-text.js", file87, sizeof file87},
    {"live/row-set.js", file88, sizeof file88},
    {"live/selection.js", file89, sizeof file89},
    {"live/status.js", file90, sizeof file90},
    {"live/table.js", file91, sizeof file91},
    {"main.js", file92, sizeof file92},
    {"map/camera.js", file93, sizeof file93},
    {"map/controls.js", file94, sizeof file94},
    {"map/events.js", file95, sizeof file95},
    {"map/follow-store.js", file96, sizeof file96},
    {"map/gestures.js", file97, sizeof file97},
    {"map/grid.js", file98, sizeof file98},
    {"map/layers.js", file99, sizeof file99},
    {"map/legend.js", file100, sizeof file100},
    {"map/map.js", file101, sizeof file101},
    {"map/motion.js", file102, sizeof file102},
    {"map/projection.js", file103, sizeof file103},
    {"map/scale.js", file104, sizeof file104},
    {"map/screen.js", file105, sizeof file105},
    {"map/tiles.js", file106, sizeof file106},
    {"map/tooltip.js", file107, sizeof file107},
    {"marks/box.js", file108, sizeof file108},
    {"marks/flashes.js", file109, sizeof file109},
    {"marks/overlay.js", file110, sizeof file110},
    {"marks/trail.js", file111, sizeof file111},
    {"painter/canvas.js", file112, sizeof file112},
    {"painter/graticule.js", file113, sizeof file113},
    {"painter/ground.js", file114, sizeof file114},
    {"painter/land-110m.bin", file115, sizeof file115},
    {"painter/land-50m.bin", file116, sizeof file116},
    {"painter/land.js", file117, sizeof file117},
    {"painter/painter.js", file118, sizeof file118},
    {"painter/points.js", file119, sizeof file119},
    {"painter/sprites.js", file120, sizeof file120},
    {"painter/types.js", file121, sizeof file121},
    {"rest.js", file122, sizeof file122},
    {"state/settings.js", file123, sizeof file123},
    {"state/view-address.js", file124, sizeof file124},
    {"state/view.js", file125, sizeof file125},
    {"style/base.css", file126, sizeof file126},
    {"style/charts.css", file127, sizeof file127},
    {"style/detail.css", file128, sizeof file128},
    {"style/dialogs.css", file129, sizeof file129},
    {"style/embed.css", file130, sizeof file130},
    {"style/filters.css", file131, sizeof file131},
    {"style/header.css", file132, sizeof file132},
    {"style/layout.css", file133, sizeof file133},
    {"style/list.css", file134, sizeof file134},
    {"style/map.css", file135, sizeof file135},
    {"style/time.css", file136, sizeof file136},
    {"style/tokens.css", file137, sizeof file137},
    {"text/de.js", file138, sizeof file138},
    {"text/en.js", file139, sizeof file139},
    {"text/es.js", file140, sizeof file140},
    {"text/format.js", file141, sizeof file141},
    {"text/locale.js", file142, sizeof file142},
    {"text/point.js", file143, sizeof file143},
    {"text/text.js", file144, sizeof file144},
    {"time/changes.js", file145, sizeof file145},
    {"time/controls.js", file146, sizeof file146},
    {"time/history.js", file147, sizeof file147},
    {"time/journey.js", file148, sizeof file148},
    {"time/player.js", file149, sizeof file149},
    {"time/slider.js", file150, sizeof file150},
    {"time/time.js", file151, sizeof file151},
    {"time/what-changed.js", file152, sizeof file152},
    {"types.js", file153, sizeof file153},
    {"ui/button.js", file154, sizeof file154},
    {"ui/copy.js", file155, sizeof file155},
    {"ui/dialogs.js", file156, sizeof file156},
    {"ui/dom.js", file157, sizeof file157},
    {"ui/failure.js", file158, sizeof file158},
    {"ui/icons.js", file159, sizeof file159},
    {"ui/part.js", file160, sizeof file160},
    {"ui/server.js", file161, sizeof file161},
    {"ui/sign.js", file162, sizeof file162},
    {"ui/toasts.js", file163, sizeof file163},
};

const struct quake_page_asset *quake_page_asset(size_t index) {
  return index < sizeof assets / sizeof *assets ? &assets[index] : NULL;
}
