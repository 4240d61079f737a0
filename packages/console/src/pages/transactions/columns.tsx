import type { Transaction } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import type { Column } from "../../ui/tables/table-head";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";

/** What every list of transactions shows. */
export const transactionColumns: readonly Column<Transaction>[] = [
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: "Reference",
    cell: ({ id, reference }) => (
      <Link to="/transactions/$id" params={{ id }}>
        <ForeignText text={reference} limit={60} />
      </Link>
    ),
  },
  { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: "Amount",
    isNumber: true,
    cell: ({ amount, asset }) => <Amount value={amount} asset={asset} />,
  },
];
