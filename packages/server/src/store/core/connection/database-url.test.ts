import { describe, expect, it } from "vitest";
import { locationOf, readDatabaseUrl } from "./database-url.js";

describe("the URL of a database", () => {
  const namesOf = (url: string) => readDatabaseUrl(url).servers.map(({ name }) => name);

  it.each([
    ["postgres://me:secret@db.example/bursar", ["db.example:5432"]],
    ["postgresql://me@db.example:6000/bursar", ["db.example:6000"]],
    ["postgres://me:se@cret@one:5001,two:5002,[::1]/bursar", ["one:5001", "two:5002", "::1:5432"]],
    ["postgres://me@one,two/bursar?port=5001,5002", ["one:5001", "two:5002"]],
    ["postgres:///bursar?host=/run/postgresql", ["/run/postgresql:5432"]],
    ["postgres://ignored/bursar?host=one,two&port=6000", ["one:6000", "two:6000"]],
  ])("%s names its servers", (url, names) => {
    expect(namesOf(url)).toEqual(names);
  });

  it("keeps credentials, database and parameters for each server", () => {
    const [, second] = readDatabaseUrl(
      "postgres://me:p%40ss@one,two:6000/bursar?sslmode=disable&target_session_attrs=primary&options=-c%20a%3Db",
    ).servers;
    const url = new URL(second?.url ?? "");
    expect([url.username, url.password, url.pathname]).toEqual(["me", "p%40ss", "/bursar"]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      sslmode: "disable",
      options: "-c a=b",
      host: "two",
      port: "6000",
    });
  });

  it("requires a server that takes writes if it names several, or asks for one", () => {
    const mustTakeWrites = (url: string) => readDatabaseUrl(url).mustTakeWrites;
    expect(mustTakeWrites("postgres://one/bursar")).toBe(false);
    expect(mustTakeWrites("postgres://one/bursar?target_session_attrs=read-write")).toBe(true);
    expect(mustTakeWrites("postgres://one,two/bursar")).toBe(true);
  });

  it.each([
    [
      "postgres://one/b?target_session_attrs=standby",
      "has target_session_attrs=standby, which Bursar does not",
    ],
    ["postgres://one/b?sslmode=requires", "has sslmode=requires, which Bursar does not support"],
    ["postgres://one/b?statement_timeout=0", "has the parameter statement_timeout, which Bursar does not"],
    ["postgres://one/b?query_timeout=0", "has the parameter query_timeout, which Bursar does not support"],
    ["postgres://one/b?load_balance_hosts=random", "has the parameter load_balance_hosts, which Bursar"],
    ["postgres://one/b?connect_timeout=0", "has connect_timeout=0: it must be a number of seconds"],
    ["postgres://one,,two/b", "must name from one to 10 hosts"],
    ["postgres://one:1,two:2,three:3/b?port=1,2", "names 3 hosts and 2 ports"],
    ["postgres://one:70000/b", "has the port 70000"],
    ["mysql://one/b", "is not the URL of a PostgreSQL database"],
  ])("%s is refused by name", (url, message) => {
    expect(() => readDatabaseUrl(url)).toThrow(message);
  });

  it("is shown without credentials and parameters", () => {
    expect(locationOf("postgres://me:secret@one:1,two:2/bursar?password=secret")).toBe("one:1,two:2/bursar");
  });
});
