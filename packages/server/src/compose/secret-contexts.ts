/** What each kind of secret is bound to when it is encrypted, so that it cannot be moved to another row. Part of the stored format. */
export const secretContexts = {
  tokenKey: (id: string) => `token-key ${id}`,
  clientKey: (id: string) => `client-key ${id}`,
  endpoint: (tenantId: string, id: string) => `webhook-endpoint ${tenantId} ${id}`,
  firstClient: (tenantId: string) => `first-client ${tenantId}`,
  approval: {
    current: ({ tenantId, id }: { tenantId: string; id: string }) => `approval ${tenantId} ${id}`,
    /** Without the tenant, as until November 2026. */
    old: (transactionId: string) => `approval ${transactionId}`,
  },
  changeDecision: {
    current: ({ tenantId, id }: { tenantId: string; id: string }) => `change-decision ${tenantId} ${id}`,
    old: (changeRequestId: string) => `change-decision ${changeRequestId}`,
  },
  passkeyChallenge: "passkey challenge",
  oidcLogin: "oidc login",
};
