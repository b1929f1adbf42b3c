import { decodeText } from '../model/base64-text.ts';
import type { Act } from '../resources/act.ts';
import { verifyPassword } from '../security/passwords.ts';
import type { SeedTarget } from '../seed/seed-target.ts';
import type { Core } from './core.ts';

/** A world as seeds are applied to it: every change goes through the resource service, as if its client had made it. */
export function seedTarget({ service, defaults }: Pick<Core, 'service' | 'defaults'>, act: Act): SeedTarget {
  return {
    view: service.view,
    initializeProviders: () => defaults.initialize(act),
    create: (parentId, word, body) => service.create(act, parentId, word, body),
    patch: (id, operations) => service.patch(act, id, operations),
    setGrants: (id, grants) =>
      service.setGrants(act, id, () => ({ grants: Object.keys(grants).length > 0 ? grants : undefined })),
    remove: (id) => service.remove(act, id, { force: false, deleteContainers: false }),
    isPassword: verifyPassword,
    sourceOf: decodeText,
  };
}
