/** Of a comment on a decision about a payment or a change; the service takes no more. */
export const commentCharactersMax = 256;
