import { isJsonObject, type JsonObject } from '../../../../server/model/json.ts';

/** Members of the web form's payload, in the order of the form (the platform's specification). */
export const WEB_FORM_MEMBERS = [
  { name: 'firstName', label: 'First name', sample: 'Ada' },
  { name: 'lastName', label: 'Last name', sample: 'Lovelace' },
  { name: 'company', label: 'Company', sample: 'Analytical Engines' },
  { name: 'title', label: 'Title', sample: 'Programmer' },
  { name: 'email', label: 'Email', sample: 'ada@example.com' },
  { name: 'phone', label: 'Phone', sample: '+44 20 0000 0000' },
  { name: 'size', label: 'Employees', sample: '10' },
  { name: 'message', label: 'Message', sample: 'Please call me back' },
] as const;

/** The event of a form that was filled in. */
export const WEB_FORM = JSON.stringify(
  { payload: Object.fromEntries(WEB_FORM_MEMBERS.map(({ name, sample }) => [name, sample])) },
  null,
  2,
);

/** The payload in an event's text; undefined when the event is no web form's. */
export function payloadIn(event: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(event);
    const payload = isJsonObject(parsed) ? parsed.payload : undefined;
    return isJsonObject(payload) ? payload : undefined;
  } catch {
    return undefined;
  }
}

/** The event with another value of one member; the rest of it stays. An empty value leaves the member there, empty. */
export function withMember(event: string, name: string, value: string): string {
  const parsed: unknown = JSON.parse(event);
  const whole = isJsonObject(parsed) ? parsed : {};
  return JSON.stringify({ ...whole, payload: { ...payloadIn(event), [name]: value } }, null, 2);
}
