/** What `#ws` is in a bundle for browsers, which have a WebSocket of their own. */
export const WebSocket = undefined;
