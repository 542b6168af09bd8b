/** A request that failed, as the server (RFC 9457) or the browser says. */
export class ApiError extends Error {
  /**
   * @param {number} status of HTTP; 0 if the server could not be reached
   * @param {string} title
   * @param {string} detail what to do
   * @param {number|null} [retryAfter] seconds
   */
  constructor(status, title, detail, retryAfter = null) {
    super(detail || title);
    this.name = "ApiError";
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }

  /** @param {unknown} error whatever was thrown @returns {ApiError} itself, or one without an answer */
  static from(error) {
    if (error instanceof ApiError) return error;
    return new ApiError(0, error instanceof Error ? error.message : String(error), "");
  }

  /** @param {Response} response one that is not ok @returns {Promise<ApiError>} */
  static async of(response) {
    let title = response.statusText || `HTTP ${response.status}`;
    let detail = "";
    try {
      const text = (await response.text()).slice(0, 10_000);
      const problem = JSON.parse(text);
      if (typeof problem.title === "string") title = problem.title;
      if (typeof problem.detail === "string") detail = problem.detail;
    } catch {
      // A proxy's answer need not be JSON; the status tells enough.
    }
    return new ApiError(response.status, title, detail, retryAfter(response));
  }
}

/** @param {Response} response @returns {number|null} seconds */
function retryAfter(response) {
  const text = response.headers.get("Retry-After");
  if (text === null) return null;
  const seconds = /^\d+$/.test(text.trim()) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}
