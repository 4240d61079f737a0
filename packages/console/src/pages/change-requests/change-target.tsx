import type { ChangeRequest } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Fact, Facts, TextFact } from "../../ui/panels/facts";
import { Address } from "../../ui/values/address";
import { ClientId } from "../../ui/values/client-id";
import { ForeignText } from "../../ui/values/foreign-text";

interface DestinationOfRequest {
  label?: string;
  network?: string;
  address?: string;
}

/** What a request to remove a destination says about it; undefined for other kinds, and for requests of an earlier version. */
function removedOf({
  kind,
  change,
}: Pick<ChangeRequest, "kind" | "change">): DestinationOfRequest | undefined {
  if (kind !== "destination.remove" || !("destination_id" in change)) return undefined;
  return change.address === undefined ? undefined : change;
}

/** What would be changed, for a list: a destination by its label and address, a client or person by the name, the policy by its id. */
export function ChangeTarget({ request }: { request: ChangeRequest }) {
  const { label = "", network, address = "" } = removedOf(request) ?? {};
  if (isOfClient(request)) return <ClientId id={request.target} />;
  if (network === undefined) return <code>{request.target}</code>;
  return (
    <>
      <ForeignText text={label} limit={60} /> <span className="quiet small">{network}</span>{" "}
      <Address address={address} />
    </>
  );
}

/** Whether its target is a client or person, which has a name. */
export function isOfClient({ kind }: Pick<ChangeRequest, "kind">): boolean {
  return kind.startsWith("client.") || kind.startsWith("person.");
}

/** The destination that would be removed. Nobody can judge an id. */
export function RemovedDestination({ request }: { request: ChangeRequest }) {
  const stated = removedOf(request);
  const mayRead = useScopes().includes("policies:read");
  const isAsked = stated === undefined && mayRead;
  const { target } = request;
  const found = useQuery({
    queryKey: ["destination", target],
    enabled: isAsked,
    queryFn: ({ signal }) => bursar.destinations.get(target, { signal }),
    retry: false,
  });
  const shown = stated ?? found.data;
  if (isAsked && found.isPending) return <p className="quiet">Loading</p>;
  return (
    <>
      <Facts>
        <TextFact name="Label" text={shown?.label} />
        <TextFact name="Network" text={shown?.network} />
        <Fact name="Address">{shown?.address !== undefined && <Address address={shown.address} />}</Fact>
        <Fact name="Destination id">
          <code>{target}</code>
        </Fact>
      </Facts>
      {shown === undefined && (
        <p className="notice" data-tone="bad" role="alert">
          Which address this is cannot be shown: it was removed meanwhile, or your role does not read the
          list. Ask the requester before you approve.
        </p>
      )}
    </>
  );
}
