import type { Operation } from 'fast-json-patch';
import { useChange } from '../../api/change.ts';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';

export interface SaveRequest {
  patch: readonly Operation[];
  /** Says whether the lambda, read anew, is still what one began with: for what is too large to be tested by the patch. */
  isUnchanged?: (now: PlatformRecord) => boolean;
}

/** Patches the lambda; `onSaved` once the window has it as it then is. */
export function useSaveLambda(lambda: PlatformRecord, onSaved: () => void) {
  const saving = useChange(
    async ({ patch, isUnchanged }: SaveRequest) => {
      const path = `/meta${recordPath(lambda)}` as const;
      if (isUnchanged && !isUnchanged(await load<PlatformRecord>(path))) throw new Overtaken();
      await send('PATCH', path, patch);
    },
    { said: `${lambda.name} was saved.`, topic: keys.world, onShown: onSaved },
  );
  return {
    save: saving.mutate,
    saving,
    /** Has somebody else saved meanwhile? */
    isConflict:
      saving.error instanceof Overtaken ||
      (saving.error !== null &&
        failureOf(saving.error).details.some(({ message }) => message.includes('the test failed'))),
  };
}

class Overtaken extends Error {
  constructor() {
    super('it is not what you began with any more');
  }
}
