/** The document and the page of the API: every call and parameter is in them, and real answers are of the form they say. */
import { describe, expect, it } from "vitest";
import { API_VISITS, apiRecord, HOME, LOGO } from "../../testing/api-archive.ts";
import { serveRecords } from "../../testing/served-archive.ts";
import { ENDPOINTS, type Endpoint } from "./endpoints.ts";
import { PARAMETERS, type ParameterName } from "./parameters.ts";
import { API_ROUTES } from "./routes.ts";
import { ROW_SCHEMAS, type Schema, type SchemaName } from "./row-schemas.ts";

const RECORDS = API_VISITS.map(apiRecord);
const CALLS = Object.entries<Endpoint>(ENDPOINTS);

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { name: string; in: string; required: boolean; description: string; schema: object }[];
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, { schema: Schema }>> }>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** What is wrong with a value, by JSON Schema as far as our schemas use it. */
function faults(value: unknown, schema: Schema, at = "answer"): string[] {
  if (schema.$ref !== undefined) return faults(value, ROW_SCHEMAS[schema.$ref.split("/").at(-1) as SchemaName], at);
  if (schema.oneOf !== undefined)
    return schema.oneOf.filter((each) => faults(value, each, at).length === 0).length === 1
      ? []
      : [`${at}: not one of`];
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const types = [schema.type ?? []].flat().map((each) => (each === "integer" ? "number" : each));
  if (!types.includes(type)) return [`${at}: ${type} is not ${types.join(" or ")}`];
  if (schema.enum !== undefined && !schema.enum.includes(value as string)) return [`${at}: not in enum`];
  if (Array.isArray(value)) return value.flatMap((each, i) => faults(each, schema.items ?? {}, `${at}[${i}]`));
  if (type !== "object") return [];
  const { properties = {}, required = [] } = schema;
  const own = value as Readonly<Record<string, unknown>>;
  return [
    ...required.filter((name) => !(name in own)).map((name) => `${at}.${name}: missing`),
    ...Object.entries(own).flatMap(([name, each]) => {
      const inner = properties[name];
      return inner === undefined ? [`${at}.${name}: not in the schema`] : faults(each, inner, `${at}.${name}`);
    }),
  ];
}

/** References that lead nowhere. */
function deadRefs(value: unknown, schemas: object): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === "$ref" && !((each as string).replace("#/components/schemas/", "") in schemas)
      ? [each as string]
      : deadRefs(each, schemas),
  );
}

describe("the OpenAPI document", () => {
  it("has every call, every parameter with a description, and no dead reference", async () => {
    await using served = await serveRecords(RECORDS);
    const { status, text, headers } = await served.ask("/api/openapi.json");
    expect([status, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    const document = JSON.parse(text) as Document;
    expect(document.openapi).toBe("3.1.0");
    expect(document.info).toMatchObject({ title: "Holotype" });
    expect(Object.keys(document.paths)).toEqual(CALLS.map(([name]) => `/api/${name}`));
    const used = new Set<string>();
    for (const [name, { required, optional }] of CALLS) {
      const { get } = document.paths[`/api/${name}`]!;
      expect(get.operationId).toBe(name);
      expect(get.parameters.map((each) => each.name)).toEqual([...required, ...optional]);
      for (const { name: parameter, in: place, required: isRequired, description, schema } of get.parameters) {
        used.add(parameter);
        expect([place, isRequired]).toEqual(["query", required.includes(parameter as ParameterName)]);
        expect(description.length).toBeGreaterThan(10);
        expect(schema).toHaveProperty("type");
      }
      expect(Object.keys(get.responses)).toEqual(["200", "400", "404", "451"]);
    }
    expect([...used].sort()).toEqual(Object.keys(PARAMETERS).sort());
    expect(deadRefs(document, document.components.schemas)).toEqual([]);
  });

  it("says of every answer what it is, and nothing else is in it", async () => {
    await using served = await serveRecords(RECORDS);
    const document = JSON.parse((await served.ask("/api/openapi.json")).text) as Document;
    const url = `url=${encodeURIComponent(HOME)}`;
    const calls: Readonly<Record<string, readonly string[]>> = {
      at: [url, `${url}&time=20140103`, "url=http://b.example/gone"],
      history: [url],
      versions: [url],
      captures: ["", url],
      slice: ["", "from=2014"],
      changes: ["from=1990"],
      same: [`url=${encodeURIComponent(LOGO)}`],
      stats: ["", "by=host", "by=crawl", "by=mime", "by=year"],
      hosts: ["limit=1"],
      urls: ["limit=1", ""],
      pages: [""],
      suggest: ["prefix=b.ex", "prefix=b.example/"],
    };
    expect(Object.keys(calls)).toEqual(CALLS.map(([name]) => name));
    for (const [name, queries] of Object.entries(calls)) {
      const schema = document.paths[`/api/${name}`]!.get.responses["200"]!.content["application/json"]!.schema;
      for (const query of queries) {
        const { status, text } = await served.ask(`/api/${name}?${query}`);
        expect([status, faults(JSON.parse(text), schema)], `${name}?${query}`).toEqual([200, []]);
      }
    }
    const wrong = await served.ask("/api/at");
    expect(faults(JSON.parse(wrong.text), ROW_SCHEMAS.Error)).toEqual([]);
  });
});

describe("the page", () => {
  it("shows each call with a curl line that works", async () => {
    await using served = await serveRecords(RECORDS);
    const { status, text, headers } = await served.ask("/api/");
    expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const shown = [...text.matchAll(/<code>curl &#39;http:\/\/archive\.test([^<]*)&#39;<\/code>/g)].map(([, target]) =>
      target!.replaceAll("&#38;", "&"),
    );
    expect(shown.map((target) => /^\/api\/(\w+)\?/.exec(target)?.[1])).toEqual(CALLS.map(([name]) => name));
    for (const target of shown) {
      const answer = await served.ask(target);
      expect(answer.status, target).toBe(200);
      expect(answer.text, target).not.toMatch(/"(?:items|suggestions)":\[\]/);
    }
    for (const name of Object.keys(PARAMETERS)) expect(text).toContain(name);
  });

  it("is there for an archive with nothing in it", async () => {
    await using served = await serveRecords([]);
    expect((await served.ask("/api/")).status).toBe(200);
  });

  it("every call has a route, and so has the document", () => {
    const names = [...CALLS.map(([name]) => name), "openapi.json"];
    expect(API_ROUTES.map(({ pattern }) => pattern)).toEqual(names.map((name) => `/api/${name}`));
  });
});
