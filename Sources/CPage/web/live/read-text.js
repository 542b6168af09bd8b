import { ApiError } from "../api/api-error.js";

/**
 * Reads an answer of the server while it arrives.
 * @param {string} address
 * @param {AbortSignal} signal
 * @param {number} silence the request fails when no bytes have come for this number of ms
 * @returns {AsyncGenerator<string>} its pieces; throws an ApiError, or the reason of the signal
 */
export async function* readText(address, signal, silence) {
  const abort = new AbortController();
  const forward = () => abort.abort(signal.reason);
  if (signal.aborted) forward();
  signal.addEventListener("abort", forward);
  const timeOut = () => abort.abort(new ApiError(0, "timeout", ""));
  let timer = setTimeout(timeOut, silence);
  try {
    const response = await fetch(address, { signal: abort.signal });
    if (!response.ok || !response.body) throw await ApiError.of(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(timeOut, silence);
      yield value;
    }
  } catch (error) {
    throw signal.aborted ? error : ApiError.from(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", forward);
    // A reader that stops early needs no more of the answer.
    abort.abort();
  }
}
