/** An OpenAPI description as a list of operations. Nothing here touches the page. */

const METHODS = ["get", "post", "put", "delete"];
const EXAMPLES = { board: "1120000000000001", move: "left", theme: "corner", name: "" };

/** Every operation: {method, path, id, summary, fields}; a field has {name, place, schema, isRequired, about, example}. */
export function operationsOf(description) {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method]).map((method) => {
      const found = methods[method];
      const fields = [...(found.parameters ?? []).map(parameter), ...bodyFields(found, description)];
      const summary = found.description ?? found.summary;
      return { method: method.toUpperCase(), path, id: found.operationId, summary, fields };
    }),
  );
}

function parameter({ name, in: place, schema, required, description = "" }) {
  return { name, place, schema, isRequired: Boolean(required), about: description, example: exampleOf(name, schema) };
}

/** The fields of the body of a request, if it has one. */
function bodyFields(found, description) {
  const reference = found.requestBody?.content["application/json"]?.schema.$ref;
  if (!reference) return [];
  const { properties, required = [] } = description.components.schemas[reference.split("/").at(-1)];
  return Object.entries(properties).map(([name, schema]) => {
    const about = schema.description ?? "";
    return { name, place: "body", schema, isRequired: required.includes(name), about, example: exampleOf(name, schema) };
  });
}

const exampleOf = (name, schema) => String(schema.default ?? EXAMPLES[name] ?? "");

/** The types of a schema, without null. */
function kindsOf(schema) {
  return (schema.anyOf ?? [schema]).filter((one) => one.type !== "null");
}

/** What a value is: its type, or the values that there are. */
export function typeOf(schema) {
  return kindsOf(schema).map((one) => one.enum?.join(" | ") ?? one.type ?? one.$ref?.split("/").at(-1) ?? "").join(" | ");
}

/** The limits of a value: `0 … 10000`, with its default. */
export function limitsOf(schema) {
  const [one] = kindsOf(schema);
  const least = one.minimum ?? one.exclusiveMinimum ?? one.minLength ?? one.minItems;
  const most = one.maximum ?? one.exclusiveMaximum ?? one.maxLength ?? one.maxItems;
  const range = least === undefined && most === undefined ? "" : `${least ?? ""} … ${most ?? ""}`;
  const usual = schema.default === undefined || schema.default === null ? "" : `= ${schema.default}`;
  return [range, usual].filter(Boolean).join(" ");
}
