/**
 * The service gets the payment, and the page no answer until it is reloaded. Which payments are stored as sent is noted before the request
 * leaves: a page that is reloaded at any later moment still has the payment with its key.
 */
export const loseAnswer = `{
  const send = globalThis.fetch;
  globalThis.fetch = async (url, init) => {
    if (init?.method !== "POST" || new URL(url).pathname !== "/v1/transactions") return send(url, init);
    const drafts = Object.values(sessionStorage).filter((value) => value.startsWith("{")).map(JSON.parse);
    const key = new Headers(init.headers).get("idempotency-key");
    const stored = drafts.filter((draft) => draft.sent !== undefined && draft.key === key);
    await send(url, init);
    globalThis.storedWhenSent = stored.map(({ sent }) => sent.reference);
    return new Promise(() => {});
  };
}`;
