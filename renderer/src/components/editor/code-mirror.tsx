import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, indentOnInput } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint';
import { search, searchKeymap } from '@codemirror/search';
import { Annotation, EditorState, StateEffect, Transaction } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, type ViewUpdate } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import type { CodeEditorProps, EditorProblem } from '../editor-props.ts';
import { editorLook, rootIn } from './setup.ts';

const LINT_DELAY_MS = 300;

/**
 * CodeMirror as a component; to be loaded through CodeEditor. Ctrl/Cmd-F finds and replaces. Tab indents code; after Escape, and in
 * JSON, it leaves the editor.
 */
export function CodeMirror(props: CodeEditorProps) {
  const { label, value, language, isReadOnly = false, problems, lint, height = '100%' } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    if (!host.current) return undefined;
    const submit = () => {
      latest.current.onSubmit?.();
      return latest.current.onSubmit !== undefined;
    };
    const root = rootIn(host.current);
    const editor = new EditorView({
      parent: root,
      root,
      doc: latest.current.value,
      extensions: [
        keymap.of([
          { key: 'Mod-Enter', run: submit },
          ...(language === 'javascript' && !isReadOnly ? [indentWithTab] : []),
          ...closeBracketsKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        history(),
        search({ top: true }),
        lineNumbers(),
        foldGutter(),
        drawSelection(),
        highlightActiveLine(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        editorLook(language),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorState.readOnly.of(isReadOnly),
        language === 'json' && !isReadOnly
          ? [
              linter((view) => [...lintJson(view), ...diagnosticsOf(view, latest.current.lint?.(textOf(view)))], {
                delay: LINT_DELAY_MS,
                needsRefresh: ({ transactions }) =>
                  transactions.some(({ effects }) => effects.some((effect) => effect.is(refreshMarks))),
              }),
              lintGutter(),
            ]
          : language === 'javascript'
            ? lintGutter()
            : [],
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || isExternalChange(update)) return;
          // At once: what is typed and sent in one breath is sent as typed, and the page never hands the editor a text that is
          // older than the editor's own.
          flushSync(() => latest.current.onChange?.(update.state.doc.toString()));
        }),
      ],
    });
    view.current = editor;
    return () => {
      view.current = undefined;
      editor.destroy();
    };
  }, [label, language, isReadOnly]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    const anchor = Math.min(editor.state.selection.main.anchor, value.length);
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      selection: { anchor },
      annotations: [Transaction.addToHistory.of(false), externalChange.of(true)],
    });
  }, [value]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the check is read through the ref; another one is another reason to look
  useEffect(() => {
    view.current?.dispatch({ effects: refreshMarks.of(null) });
  }, [lint]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: with another language or none to write it is another editor
  useEffect(() => {
    const editor = view.current;
    if (!editor || !problems) return;
    const marks = diagnosticsOf(editor, problems);
    editor.dispatch(setDiagnostics(editor.state, marks));
    const [first] = marks;
    if (first) editor.dispatch({ effects: EditorView.scrollIntoView(first.from, { y: 'center' }) });
  }, [problems, language, isReadOnly]);

  const { line } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each line that it is opened at, as soon as it has that line
  useEffect(() => {
    const editor = view.current;
    if (!editor || line === undefined || line < 1 || line > editor.state.doc.lines) return;
    const { from } = editor.state.doc.line(line);
    editor.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    editor.focus();
  }, [line, value === '']);

  return <div ref={host} className="min-h-0 overflow-hidden" style={{ height }} />;
}

/** Problems as the editor shows them, within the text as it is now. */
function diagnosticsOf({ state }: EditorView, problems: readonly EditorProblem[] = []): Diagnostic[] {
  const end = state.doc.length;
  return problems.map(({ from, to, message }) => ({
    from: Math.min(from, end),
    to: Math.min(to, end),
    message,
    severity: 'error',
  }));
}

const textOf = ({ state }: EditorView) => state.doc.toString();

/** Marks a text that the page gave: the page knows it. */
const externalChange = Annotation.define<boolean>();
const isExternalChange = ({ transactions }: ViewUpdate) =>
  transactions.some((transaction) => transaction.annotation(externalChange));

const parseJson = jsonParseLinter();
/** The marks have changed, but the text has not. */
const refreshMarks = StateEffect.define<null>();

function lintJson(editor: EditorView) {
  return editor.state.doc.length === 0 ? [] : parseJson(editor);
}
