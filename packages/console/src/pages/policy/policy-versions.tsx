import type { PolicyDocument } from "@bursar/client";
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { Loaded } from "../../ui/panels/loaded";
import { LoadMore } from "../../ui/tables/load-more";
import { SimpleTable } from "../../ui/tables/simple-table";
import { ClientId } from "../../ui/values/client-id";
import { Time } from "../../ui/values/time";
import { Difference } from "./difference";

interface PolicyVersionsProps {
  inForce: { version: number; document: PolicyDocument };
  mayRestore: boolean;
  onRestore: (document: PolicyDocument) => void;
}

/** Earlier versions. Restoring one makes it the draft, which is put in force as any other. */
export function PolicyVersions({ inForce, mayRestore, onRestore }: PolicyVersionsProps) {
  const [chosen, setChosen] = useState<number>();
  const versions = useInfiniteQuery({
    queryKey: ["policy-versions", inForce.version],
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      bursar.policy
        .versions({ limit: 50, ...(pageParam === undefined ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  return (
    <section className="stack" aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <Loaded query={versions}>
        {({ pages }) =>
          pages[0]?.data.length === 0 ? (
            <p className="quiet">The policy is the one that every tenant starts with.</p>
          ) : (
            <SimpleTable
              caption="Versions"
              rows={pages.flatMap(({ data }) => data)}
              keyOf={({ version }) => String(version)}
              columns={[
                { title: "Version", cell: ({ version }) => version },
                { title: "Time", cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  title: "By",
                  cell: ({ created_by }) =>
                    created_by === null ? (
                      <span className="quiet">the operator</span>
                    ) : (
                      <ClientId id={created_by} />
                    ),
                },
                {
                  title: "Actions",
                  cell: ({ version }) =>
                    version === inForce.version ? (
                      <span className="quiet">in force</span>
                    ) : (
                      <button
                        type="button"
                        className="button small"
                        aria-expanded={chosen === version}
                        onClick={() => setChosen(chosen === version ? undefined : version)}
                      >
                        Compare version {version}
                      </button>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <LoadMore query={versions} />
      {chosen !== undefined && (
        <Compared
          key={chosen}
          version={chosen}
          inForce={inForce}
          onRestore={mayRestore ? onRestore : undefined}
        />
      )}
    </section>
  );
}

function Compared({
  version,
  inForce,
  onRestore,
}: {
  version: number;
  inForce: { version: number; document: PolicyDocument };
  onRestore: ((document: PolicyDocument) => void) | undefined;
}) {
  const earlier = useQuery({
    queryKey: ["policy-version", version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => bursar.policy.get({ version }, { signal }),
  });
  return (
    <Loaded query={earlier}>
      {({ document }) => (
        <div className="stack">
          <h3>
            From version {version} to version {inForce.version}
          </h3>
          <Difference before={document} after={inForce.document} label={`Difference to version ${version}`} />
          {onRestore !== undefined && (
            <div className="row">
              <button type="button" className="button" onClick={() => onRestore(document)}>
                Make version {version} the draft
              </button>
            </div>
          )}
        </div>
      )}
    </Loaded>
  );
}
