import { protectingScopes } from "@bursar/protocol";

/** Change requests concern protected clients, so a token with one of their scopes is admitted. The kind of change decides further. */
export const changeScopes = protectingScopes;
