import { useMutation } from '@tanstack/react-query';
import type { Operation } from 'fast-json-patch';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { toast } from '../../parts/toasts.tsx';

export interface SaveWish {
  patch: readonly Operation[];
  /** Says whether the lambda, read anew, is still what one began with: for what is too large to be tested by the patch. */
  isUnchanged?: (now: PlatformRecord) => boolean;
}

/** Patches the lambda; `onSaved` once the window has it as it then is. */
export function useSaveLambda(lambda: PlatformRecord, onSaved: () => void) {
  const saving = useMutation({
    mutationFn: async ({ patch, isUnchanged }: SaveWish) => {
      const path = `/meta${recordPath(lambda)}` as const;
      if (isUnchanged && !isUnchanged(await load<PlatformRecord>(path))) throw new Overtaken();
      await send('PATCH', path, patch);
    },
    onSuccess: async () => {
      toast({ tone: 'ok', text: `${lambda.name} was saved.` });
      await queryClient.invalidateQueries({ queryKey: [keys.world] });
      onSaved();
    },
  });
  const failure = saving.error ? failureOf(saving.error) : undefined;
  return {
    save: saving.mutate,
    isPending: saving.isPending,
    failure,
    /** Has somebody else saved meanwhile? */
    isConflict:
      saving.error instanceof Overtaken ||
      failure?.details.some(({ message }) => message.includes('the test failed')) === true,
  };
}

class Overtaken extends Error {
  constructor() {
    super('it is not what you began with any more');
  }
}
