import { Link } from "@tanstack/react-router";
import { useTransactionReference } from "../../api/transaction-references";
import { useWalletNames } from "../../api/wallet-names";
import { useScopes } from "../../session/use-me";
import { ClientId } from "./client-id";
import { ForeignText } from "./foreign-text";
import { ShortId } from "./short-id";

/** The pages of objects, by the beginning of their id, and the scopes of which any reads them. */
const pages = {
  tx: { to: "/transactions/$id", scopes: ["transactions:read"] },
  wlt: { to: "/wallets/$id", scopes: ["wallets:read"] },
  ord: { to: "/orders/$id", scopes: ["orders:read"] },
  whe: { to: "/webhooks/$id", scopes: ["webhooks:manage"] },
  chr: {
    to: "/change-requests/$id",
    scopes: ["transactions:approve", "policies:manage", "destinations:manage", "clients:manage"],
  },
} as const;

/**
 * What something is about: a client by its name, a payment by its reference, and what has a page as a link to it. A reference that is known
 * is not read.
 */
export function ObjectLink({ id, reference: known }: { id: string; reference?: string | undefined }) {
  const scopes = useScopes();
  const isPolicy = /^policy\/[0-9]+$/.test(id) && scopes.includes("policies:read");
  const prefix = /^([a-z]+)_[0-9a-z]{26}$/.exec(id)?.[1] ?? "";
  const page = Object.hasOwn(pages, prefix) ? pages[prefix as keyof typeof pages] : undefined;
  const isAllowed = page?.scopes.some((one) => scopes.includes(one)) === true;
  const wallets = useWalletNames();
  const reference = useTransactionReference(id, prefix === "tx" && isAllowed && known === undefined);
  if (prefix === "cli") return <ClientId id={id} />;
  // Its versions are listed there.
  if (isPolicy) return <Link to="/policy">{id}</Link>;
  const name = prefix === "wlt" ? wallets?.get(id) : (known ?? reference);
  if (!isAllowed) return <ForeignText text={id} limit={60} />;
  return (
    <>
      <Link to={page.to} params={{ id }}>
        <ForeignText text={name ?? id} limit={60} />
      </Link>
      {name !== undefined && <ShortId id={id} />}
    </>
  );
}
