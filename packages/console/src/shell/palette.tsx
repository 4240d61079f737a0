import type { SearchHit } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useState } from "react";
import { bursar } from "../api/bursar";
import { useDestinationNames, useEndpointNames, usePeopleNames } from "../api/named-objects";
import { useWalletNames } from "../api/wallet-names";
import { Modal } from "../ui/dialogs/modal";
import { Problem } from "../ui/panels/problem";
import { ForeignText } from "../ui/values/foreign-text";
import { mayOpen, pages } from "./pages";

interface Hit {
  id: string;
  title: string;
  kind: string;
  open: () => void;
}

/** Finds pages by their name, and objects by anything that names them. */
export function Palette({ scopes, onClose }: { scopes: readonly string[]; onClose: () => void }) {
  const navigate = useNavigate();
  const list = useId();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const typed = text.trim();
  const hits: Hit[] = pages
    .filter((page) => mayOpen(scopes, page) && page.title.toLowerCase().includes(typed.toLowerCase()))
    .map((page) => ({
      id: page.path,
      title: page.title,
      kind: "page",
      open: () => void navigate({ to: page.path }),
    }));
  hits.push(...useNamedHits(typed, navigate).slice(0, Math.max(0, hitsMax - hits.length)));
  const found = useFound(typed, scopes);
  for (const hit of found.hits) {
    const open = openerOf(hit, navigate);
    if (open !== undefined && !hits.some(({ id }) => id === hit.id))
      hits.push({ id: `${hit.object} ${hit.id}`, title: hit.label ?? hit.id, kind: kindOf(hit), open });
  }
  const current = Math.min(chosen, hits.length - 1);
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return;
    onClose();
    hit.open();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === "ArrowDown") setChosen(Math.min(current + 1, hits.length - 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(current - 1, 0));
    else if (event.key === "Enter") open(hits[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal title="Find" onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-label="A page, a name, or an id, reference, key, hash or address"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={hits[current] === undefined ? undefined : `${list}-${current}`}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label="Found" className="hits">
        {hits.map((hit, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox
          <div
            key={hit.id}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            onClick={() => open(hit)}
          >
            <ForeignText text={hit.title} limit={80} />{" "}
            <span className="quiet small">
              <ForeignText text={hit.kind} limit={80} />
            </span>
          </div>
        ))}
      </div>
      {found.error !== null && <Problem error={found.error} retry={found.retry} />}
      {hits.length === 0 && (
        <p className="quiet" role="status">
          {found.isLooking
            ? "Looking"
            : "No page, wallet, person, destination or endpoint has this name, and nothing else has this id, key, hash or address, or a reference that begins so."}
        </p>
      )}
    </Modal>
  );
}

const quietMs = 200;
const hitsMax = 20;

/** What has a name that contains what was typed, in upper or lower case: wallets, people, destinations and endpoints. */
function useNamedHits(typed: string, navigate: ReturnType<typeof useNavigate>): Hit[] {
  const wallets = [...(useWalletNames() ?? [])].map(([id, name]) => ({ id, names: [name] as const }));
  const kinds = [
    { kind: "wallet", object: "wallet", named: wallets },
    { kind: "person", object: "person", named: usePeopleNames() },
    { kind: "destination", object: "destination", named: useDestinationNames() },
    { kind: "webhook endpoint", object: "webhook_endpoint", named: useEndpointNames() },
  ] as const;
  if (typed.length < 2) return [];
  const wanted = typed.toLowerCase();
  return kinds.flatMap(({ kind, object, named }) =>
    (named ?? [])
      .filter(({ names }) => names.some((name) => name.toLowerCase().includes(wanted)))
      .map(({ id, names: [title, ...others] }) => ({
        id,
        title,
        kind: [kind, ...others].join(", "),
        open: openerOf({ object, id }, navigate) ?? (() => undefined),
      })),
  );
}

/** What the service finds, once somebody has stopped typing for a moment. What it found for another text is none of it: Enter would open that. */
function useFound(typed: string, scopes: readonly string[]) {
  const [settled, setSettled] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), quietMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const isSettled = settled === typed;
  const mayFind = typed.length >= 2 && typed.length <= 255 && scopes.length > 0;
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["search", settled],
    queryFn: ({ signal }) => bursar.search.find(settled, { signal }),
    enabled: isSettled && mayFind,
    staleTime: 5000,
  });
  return {
    hits: isSettled && mayFind ? (data?.data ?? []) : [],
    error: isSettled ? error : null,
    isLooking: isFetching || (mayFind && !isSettled),
    retry: () => void refetch(),
  };
}

/** The page of an object; undefined if it has none. */
function openerOf(
  { object, id }: { object: SearchHit["object"] | "person"; id: string },
  navigate: ReturnType<typeof useNavigate>,
): (() => void) | undefined {
  const params = { id };
  if (object === "transaction") return () => void navigate({ to: "/transactions/$id", params });
  if (object === "person") return () => void navigate({ to: "/people/$id", params });
  if (object === "wallet") return () => void navigate({ to: "/wallets/$id", params });
  if (object === "order") return () => void navigate({ to: "/orders/$id", params });
  if (object === "webhook_endpoint") return () => void navigate({ to: "/webhooks/$id", params });
  if (object === "client") return () => void navigate({ to: "/clients/$id", params });
  if (object === "change_request") return () => void navigate({ to: "/change-requests/$id", params });
  if (object === "destination") return () => void navigate({ to: "/destinations" });
  if (object === "webhook_delivery") return () => void navigate({ to: "/deliveries/$id", params });
  return undefined;
}

function kindOf({ object, match }: SearchHit): string {
  const by = match === "id" ? "" : `, by its ${match.replaceAll("_", " ")}`;
  return `${object.replaceAll("_", " ")}${by}`;
}
