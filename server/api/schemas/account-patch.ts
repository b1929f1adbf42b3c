import type { Operation } from 'fast-json-patch';
import { invalid, PlatformError } from '../../model/errors.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { parsePatch } from '../../model/patch/patch.ts';

/** The location of editable account members in the record of the user (D-070, D-178). */
const USER_POINTERS: ReadonlyMap<string, string> = new Map([
  ['username', '/name'],
  ['description', '/description'],
  ['firstName', '/properties/firstName'],
  ['lastName', '/properties/lastName'],
  ['email', '/properties/email'],
  ['phoneNumber', '/properties/phoneNumber'],
  ['password', '/properties/password'],
]);

/** Members that every account has even if the user has no value (D-178): replacing one adds it. */
const ALWAYS_SHOWN: readonly string[] = ['/properties/firstName', '/properties/lastName'];

/**
 * The operations on the user's record of a JSON Patch, or of an object with the members to change (null counts as absent, D-030). Throws 400
 * for a malformed body, 422 for a path that is not an account member (D-092).
 */
export function readAccountPatch(body: Json | undefined): Operation[] {
  if (!isJsonObject(body)) return parsePatch(body).map(onUser);
  return Object.entries(body).flatMap(([member, value]): Operation[] => {
    const path = USER_POINTERS.get(member);
    if (path === undefined) throw invalid(`/${member.slice(0, 64)}`, 'is not an editable member of an account');
    return value === null ? [] : [{ op: 'add', path, value }];
  });
}

function onUser(operation: Operation, index: number): Operation {
  const path = userPointer(operation.path, index);
  if (operation.op === 'replace' && ALWAYS_SHOWN.includes(path)) return { ...operation, op: 'add', path };
  return 'from' in operation
    ? { ...operation, path, from: userPointer(operation.from, index) }
    : { ...operation, path };
}

function userPointer(pointer: string, index: number): string {
  const found = USER_POINTERS.get(pointer.slice(1));
  if (found !== undefined) return found;
  const reason = `is not editable; editable members are ${[...USER_POINTERS.keys()].map((name) => `/${name}`).join(', ')}`;
  throw new PlatformError('patch_not_applicable', `operation ${index} (${pointer}): ${reason}`, {
    details: [{ pointer, message: reason }],
  });
}

/** An error about a member of the user, in terms of the account. */
export function accountError(error: PlatformError): PlatformError {
  const { details } = error;
  if (!details) return error;
  const renamed = (text: string) =>
    details.reduce((renamedText, { pointer }) => {
      const [member] = [...USER_POINTERS].find(([, userPointer]) => userPointer === pointer) ?? [];
      return member === undefined ? renamedText : renamedText.replaceAll(pointer, `/${member}`);
    }, text);
  return new PlatformError(error.reason, renamed(error.message), {
    details: details.map(({ pointer, message }) => ({ pointer: renamed(pointer), message: renamed(message) })),
    cause: error,
  });
}
