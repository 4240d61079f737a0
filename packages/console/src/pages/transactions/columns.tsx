import type { Transaction } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import type { Column } from "../../ui/tables/table-head";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";

/** What every list of transactions shows, the most important first: a narrow screen shows only these without scrolling. */
export const transactionColumns: readonly Column<Transaction>[] = [
  {
    title: "Reference",
    cell: ({ id, reference }) => (
      <Link to="/transactions/$id" params={{ id }}>
        <ForeignText text={reference} limit={60} />
      </Link>
    ),
  },
  {
    title: "Amount",
    isNumber: true,
    cell: ({ amount, asset }) => <Amount value={amount} asset={asset} />,
  },
  { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];
