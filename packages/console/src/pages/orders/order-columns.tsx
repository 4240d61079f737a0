import type { Order } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import type { Column } from "../../ui/tables/table-head";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";

/** What every list of orders shows. On a narrow screen the first of them are in sight. */
export const orderColumns: readonly Column<Order>[] = [
  {
    title: "Order",
    cell: ({ id }) => (
      <Link to="/orders/$id" params={{ id }} title={id}>
        <code className="one-word">…{id.slice(-6)}</code>
      </Link>
    ),
  },
  { title: "Side", cell: ({ side }) => side },
  { title: "Price", isNumber: true, cell: ({ price }) => price !== null && <Amount value={price} /> },
  { title: "Size", isNumber: true, cell: ({ size }) => size !== null && <Amount value={size} /> },
  { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
  { title: "Filled", isNumber: true, cell: ({ filled }) => <Amount value={filled} /> },
  {
    title: "Reference",
    cell: ({ reference }) => reference !== null && <ForeignText text={reference} limit={60} />,
  },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];
