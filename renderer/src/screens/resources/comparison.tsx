import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useMissing, useSeesAll } from '../../api/permissions.tsx';
import { Pending } from '../../components/pending.tsx';
import { RecordDifference } from '../history/record-difference.tsx';

/** The resource at two moments, each the number of a commit. */
export function Comparison({ id, before, after }: { id: string; before: number; after: number }) {
  const missing = useMissing('all');
  const compared = useQuery({
    enabled: useSeesAll(),
    // What was does not change any more.
    queryKey: ['resource at two moments', id, before, after],
    queryFn: async ({ signal }) => {
      const at = (moment: number) =>
        load('/inspect/world', { at: moment, resource: id }, signal)
          // Before its first commit, and after its last, it is not there.
          .catch((thrown) => {
            if (failureOf(thrown).code === 404) return undefined;
            throw thrown;
          });
      const [from, to] = await Promise.all([at(before), at(after)]);
      return { from, to };
    },
  });
  const { data } = compared;
  if (missing !== undefined) return <p className="border-t border-line px-4 py-3 text-muted">To compare: {missing}</p>;
  if (!data) return <Pending query={compared} rows={4} />;
  return (
    <div className="border-t border-line">
      <RecordDifference label={`Between commit ${before} and ${after}`} before={data.from} after={data.to} />
    </div>
  );
}
