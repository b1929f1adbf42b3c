import { isJsonObject, type JsonObject, jsonIn, memberOf } from '../../../../server/model/json.ts';
import { WEB_FORM } from '../../../../server/model/web-form.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { sourceOf } from './code-text.ts';

/** Members of the web form's payload, in the order of the form (the platform's specification). */
export const WEB_FORM_MEMBERS = [
  { name: 'firstName', label: 'First name' },
  { name: 'lastName', label: 'Last name' },
  { name: 'company', label: 'Company' },
  { name: 'title', label: 'Title' },
  { name: 'email', label: 'Email' },
  { name: 'phone', label: 'Phone' },
  { name: 'size', label: 'Employees' },
  { name: 'message', label: 'Message' },
] as const;

/** A form that was filled in, as the text of an event. */
export const WEB_FORM_EVENT = JSON.stringify(WEB_FORM, null, 2);

/**
 * Returns the event that a lambda is tried with until another one is chosen: a form if the lambda sends leads to a CRM,
 * even while a variable for that is missing.
 */
export function firstEventOf({ properties: { env, code } }: Pick<PlatformRecord, 'properties'>): string {
  const isForm = memberOf(env, 'CRM_OID') !== undefined || sourceOf(code).includes('CRM_OID');
  return isForm ? WEB_FORM_EVENT : '{}';
}

/** The payload in an event's text; undefined when the event is no web form's. */
export function payloadIn(event: string): JsonObject | undefined {
  const parsed = jsonIn(event);
  const payload = isJsonObject(parsed) ? parsed.payload : undefined;
  return isJsonObject(payload) ? payload : undefined;
}

/** The event with another value of one member; the rest of it stays. An empty value leaves the member there, empty. */
export function withMember(event: string, name: string, value: string): string {
  const parsed: unknown = JSON.parse(event);
  const eventObject = isJsonObject(parsed) ? parsed : {};
  return JSON.stringify({ ...eventObject, payload: { ...payloadIn(event), [name]: value } }, null, 2);
}
