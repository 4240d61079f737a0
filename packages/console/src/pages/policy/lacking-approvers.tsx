import type { PolicyDocument } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { ForeignText } from "../../ui/values/foreign-text";
import { countApprovers, lackingRules } from "./approvers";

const readMax = 1000;

/** Warns of rules that more people must approve than can. Only those who manage people can know. */
export function LackingApprovers({ document }: { document: PolicyDocument }) {
  const { data: approvers } = useQuery({
    queryKey: ["people", "approvers"],
    enabled: useScopes().includes("clients:manage"),
    refetchInterval: 30_000,
    queryFn: async ({ signal }) => {
      const people = [];
      for await (const person of bursar.people.list({ limit: 200 }, { signal }))
        if (people.push(person) === readMax) break;
      return countApprovers(people);
    },
  });
  const lacking = approvers === undefined ? [] : lackingRules(document, approvers);
  if (lacking.length === 0) return null;
  return (
    <div className="notice" data-tone="wait" role="status">
      {lacking.map(({ title, required }) => (
        <p key={title}>
          <ForeignText text={title} limit={80} />: {required} people must approve, and{" "}
          {approvers === 0 ? "nobody" : approvers} can now. What it applies to waits until more people have an
          approving role and a passkey, or it expires.
        </p>
      ))}
    </div>
  );
}
