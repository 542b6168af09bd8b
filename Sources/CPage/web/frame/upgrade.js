import { api } from "../data/api.js";
import { connection } from "../data/connection.js";
import { t } from "../text/text.js";
import { server } from "../ui/server.js";
import { toast } from "../ui/toasts.js";

/** Offers to load the page again when the server comes back with another version of it. */
export async function start() {
  const { assets } = await server;
  let { kind } = connection.state;
  let told = false;
  connection.addEventListener("state", async () => {
    const before = kind;
    ({ kind } = connection.state);
    if (told || kind !== "live" || before === "live" || !assets) return;
    const now = await api.settings().catch(() => null);
    if (told || !now?.assets || now.assets === assets) return;
    told = true;
    toast({ text: t("upgrade"), action: { text: t("upgrade.reload"), run: () => location.reload() } });
  });
}
