import { Link } from "@tanstack/react-router";
import { Empty } from "../ui/empty";
import { PageHead } from "../ui/page-head";

export function NotFound() {
  return (
    <>
      <PageHead title="No such page" />
      <Empty title="There is no page at this address">
        <Link to="/">Go to the overview</Link>
      </Empty>
    </>
  );
}
