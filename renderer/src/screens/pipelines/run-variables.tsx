import { PIPELINE_VARIABLES, type PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { State } from '../../parts/state.tsx';

const ABOUT: Readonly<Record<string, string>> = PIPELINE_VARIABLES;

/** The names of the variables that a run was given, and of those that it asked for in vain; values are not kept. */
export function RunVariables({ variables: { present, missing } }: Pick<PipelineRun, 'variables'>) {
  return (
    <table className="w-full">
      <caption className="sr-only">Variables of the run</caption>
      <tbody>
        {[
          ...missing.map((name) => ({ name, isMissing: true })),
          ...present.map((name) => ({ name, isMissing: false })),
        ].map(({ name, isMissing }) => (
          <tr key={name} className="h-[30px] border-b border-line/55">
            <th scope="row" className="mono px-4 text-left font-normal whitespace-nowrap">
              {name}
            </th>
            <td className="px-2">
              <State is={isMissing ? 'error' : 'ok'}>{isMissing ? 'missing' : 'present'}</State>
            </td>
            <td className="px-2 text-muted">{ABOUT[name]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
