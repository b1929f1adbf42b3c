import { useMemo } from 'react';
import { useAllOfType } from '../../api/all-of-type.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';
import type { LambdaRow } from './lambda-columns.tsx';

/** Every lambda of the scope, with how it fared of late. */
export function useLambdaRows() {
  const lambdas = useAllOfType('lambdas');
  const use = useRead(keys.invocations, '/inspect/lambda-use', {}, { keepsLast: true });
  const rows = useMemo(() => {
    const byId = new Map(use.data?.lambdas.map((one) => [one.lambdaId, one]));
    return lambdas.records.map((record): LambdaRow => ({ record, use: byId.get(record.id) }));
  }, [lambdas.records, use.data]);
  return { ...lambdas, rows };
}
