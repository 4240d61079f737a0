import { Link } from "@tanstack/react-router";
import { Empty } from "../ui/panels/empty";
import { PageHead } from "../ui/panels/page-head";

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
