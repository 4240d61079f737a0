import type { Destination } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useOpenChanges } from "../../api/open-changes";
import { useAction } from "../../api/use-action";
import { useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { Address } from "../../ui/values/address";
import { Countdown } from "../../ui/values/countdown";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { NewDestination } from "./new-destination";

/** The allow-list of addresses. A new one waits before the policy treats it as listed. */
export function DestinationsPage() {
  const queries = useQueryClient();
  const mayManage = useScopes().includes("destinations:manage");
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Destination>();
  const [waiting, setWaiting] = useState<string>();
  const changes = useOpenChanges();
  const removals = new Map(
    changes.flatMap(({ id, kind, target }) => (kind === "destination.remove" ? [[target, id] as const] : [])),
  );
  const remove = useAction({
    mutationFn: ({ id }: Destination) => bursar.destinations.remove(id),
    onSuccess: async (result) => {
      setWaiting(result?.id);
      setRemoving(undefined);
      await queries.invalidateQueries({ queryKey: ["destinations"] });
      await queries.invalidateQueries({ queryKey: ["change-requests"] });
    },
  });
  return (
    <>
      <PageHead title="Destinations">
        {mayManage && (
          <button type="button" className="button" data-tone="primary" onClick={() => setAdding(true)}>
            List an address
          </button>
        )}
      </PageHead>
      {waiting !== undefined && <WaitsForApproval id={waiting} />}
      <PagedTable
        caption="Destinations"
        queryKey={["destinations"]}
        list={bursar.destinations.list}
        columns={[...columns, ...(mayManage ? [removal(removals, setRemoving)] : [])]}
        keyOf={({ id }) => id}
        refetchIntervalMs={15_000}
        empty={
          <Empty title="No address is listed">
            A rule with the destination listed_address lets only addresses of this list be paid.
          </Empty>
        }
      />
      {isAdding && (
        <NewDestination
          onClose={() => setAdding(false)}
          onDone={(changeRequestId) => {
            setAdding(false);
            setWaiting(changeRequestId);
          }}
        />
      )}
      {removing !== undefined && (
        <Confirm
          title="Remove this destination?"
          verb="Remove with the passkey"
          tone="danger"
          mutation={remove}
          onConfirm={() => remove.mutate(removing)}
          onClose={() => {
            remove.reset();
            setRemoving(undefined);
          }}
        >
          <p>
            <Address address={removing.address} /> is then no longer a listed address. Listed again, it waits
            again.
          </p>
        </Confirm>
      )}
    </>
  );
}

function WaitsForApproval({ id }: { id: string }) {
  return (
    <div className="notice" data-tone="wait" role="status">
      <p>
        Others must approve this:{" "}
        <Link to="/change-requests/$id" params={{ id }}>
          {id}
        </Link>
      </p>
    </div>
  );
}

const columns: readonly Column<Destination>[] = [
  {
    title: "Label",
    cell: ({ label, note }) => (
      <>
        <ForeignText text={label} limit={60} />
        {note !== null && (
          <span className="quiet small">
            {" "}
            <ForeignText text={note} limit={60} />
          </span>
        )}
      </>
    ),
  },
  { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
  { title: "Network", cell: ({ network }) => network },
  { title: "Address", isWide: true, cell: ({ address }) => <Address address={address} /> },
  {
    title: "Usable",
    cell: ({ state, effective_at }) =>
      state === "waiting" ? <WaitingTime until={effective_at} /> : <Time at={effective_at} />,
  },
];

/** The list is read again when the address becomes usable, so that it does not stay "due". */
function WaitingTime({ until }: { until: string }) {
  const queries = useQueryClient();
  const onOver = () => void queries.invalidateQueries({ queryKey: ["destinations"] });
  return <Countdown until={until} isDeadline={false} onOver={onOver} />;
}

/** `removals` has the change requests that would remove a destination, by its id: a second one is not offered. */
const removal = (
  removals: ReadonlyMap<string, string>,
  onRemove: (destination: Destination) => void,
): Column<Destination> => ({
  title: "Action",
  cell: (destination) => {
    const id = removals.get(destination.id);
    if (id !== undefined)
      return (
        <Link to="/change-requests/$id" params={{ id }}>
          Removal waits for approval
        </Link>
      );
    return (
      <button
        type="button"
        className="button small"
        aria-label={`Remove ${destination.address}`}
        onClick={() => onRemove(destination)}
      >
        Remove
      </button>
    );
  },
});
