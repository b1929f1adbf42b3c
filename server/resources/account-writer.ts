import type { Caller } from '../model/caller.ts';
import type { AccountWriter } from '../security/account-writer.ts';
import type { Act } from './act.ts';
import type { ResourceService } from './resource-service.ts';

/** Lets the security service change accounts through the resource service, where users and groups live (D-072). */
export function createAccountWriter(service: ResourceService): AccountWriter {
  const actOf = (caller: Caller): Act => ({ caller, via: 'api' });
  return {
    async patchUser(caller, userId, operations) {
      await service.patch(actOf(caller), userId, operations);
    },
    async deleteUser(caller, userId) {
      await service.remove(actOf(caller), userId, { force: false, deleteContainers: false });
    },
    async setDisabled(caller, userId, disabled) {
      const user = service.view.find(userId);
      if (!user) return;
      const { disabled: _, ...properties } = user.properties;
      const after = { ...user, properties: { ...properties, ...(disabled && { disabled }) } };
      await service.commit(actOf(caller), 'user.update', [after]);
    },
    async setMembers(caller, groupId, userIds) {
      await service.setProperties(actOf(caller), groupId, 'update', (before) => ({
        ...before.properties,
        users: [...userIds],
      }));
    },
  };
}
