import { list } from "./list-setting.js";
import { matching, type Setting, secret, text } from "./setting.js";

/** Login with an OpenID provider, which is off unless `oidc.issuer` is set. */
export const oidcSettings = {
  "oidc.issuer": matching(
    {
      env: "BURSAR_OIDC_ISSUER",
      about:
        "The issuer of the OpenID provider that people can log in with, beside passkeys, exactly as its ID tokens have it. By default there is none. Plain HTTP is accepted on loopback only.",
    },
    /^(https:\/\/\S+|http:\/\/(localhost|127\.0\.0\.1)(:\d+)?(\/\S*)?)$/,
    "a URL that begins with https://",
  ),
  "oidc.client_id": text({
    env: "BURSAR_OIDC_CLIENT_ID",
    about: "The id of this service at the provider. Required with `oidc.issuer`.",
  }),
  "oidc.client_secret": secret({
    env: "BURSAR_OIDC_CLIENT_SECRET",
    about: "Its secret, for `client_secret_basic`. Required with `oidc.issuer`.",
  }),
  "oidc.scope": matching(
    { default: "openid email profile", about: "The scopes that the provider is asked for." },
    /^openid( [!-~]+)*$/,
    "scopes that begin with openid, separated by spaces",
  ),
  "oidc.role_claim": text({
    default: "groups",
    about: "The claim of the ID token that `oidc_roles` is about: a string, or a list of strings.",
  }),
} satisfies Record<string, Setting<string>>;

interface OidcRole {
  value: string;
  /** The id of the tenant, as it is shown. */
  tenant: string;
  role: string;
}

export const oidcRoleList = list({
  about:
    "Who gets which role by `oidc.role_claim`. The first row whose value the claim has decides, at each login. Nobody without a row can log in with the provider.",
  default: [],
  example: [{ value: "treasury-operators", tenant: "tnt_01m4av5hxmf1n9pw9nyjc62m5a", role: "operator" }],
  entriesMax: 200,
  fields: {
    value: text({ about: "The value of the claim, such as the name of a group." }),
    tenant: matching(
      { about: "The id of the tenant, from `bursar tenant list`." },
      /^tnt_[0-9a-z]{26}$/,
      "the id of a tenant",
    ),
    role: matching(
      { about: "A built-in role. What a role of the tenant means is up to its clients, so it is refused." },
      /^[a-z][a-z0-9_-]{0,39}$/,
      "the name of a role",
    ),
  },
  make: (row): OidcRole => row,
  namesOf: ({ value }) => ({ value }),
  show: ({ value, tenant, role }) => ({ value, tenant, role }),
});
