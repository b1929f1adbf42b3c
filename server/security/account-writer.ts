import type { Operation } from 'fast-json-patch';
import type { Caller } from '../model/caller.ts';
import type { Uuid } from '../model/ids.ts';

/**
 * Changes accounts where they live: in the world, through the resource service, so that validation, policies and history
 * are those of any other change. The routes have checked the caller's right (D-117); each call resolves once committed.
 */
export interface AccountWriter {
  /**
   * Patches the user's record (D-098).
   *
   * @param operations JSON Patch on the record as the resource service knows it, e.g. `/properties/email`
   * @throws PlatformError 400, 409, 422 as a PATCH of the user would
   */
  patchUser(caller: Caller, userId: Uuid, operations: readonly Operation[]): Promise<void>;
  /** Deletes the user; its credentials end with it (D-072). Throws 409 for root's user. */
  deleteUser(caller: Caller, userId: Uuid): Promise<void>;
  /** Sets the server-held property `disabled` of the user to true, or takes it away. */
  setDisabled(caller: Caller, userId: Uuid, disabled: boolean): Promise<void>;
  /** Sets the whole membership of a group: ids of existing users, each once (D-073). */
  setMembers(caller: Caller, groupId: Uuid, userIds: readonly Uuid[]): Promise<void>;
}
