export type EditorLanguage = 'json' | 'javascript' | 'text';

/** Something wrong in a text, by offset. */
export interface EditorProblem {
  from: number;
  to: number;
  message: string;
}

export interface CodeEditorProps {
  /** Read aloud. */
  label: string;
  /** The text; a new one from outside replaces what is there, with the cursor kept where it can be. */
  value: string;
  onChange?(value: string): void;
  language: EditorLanguage;
  isReadOnly?: boolean;
  /** Ctrl/Cmd-Enter. */
  onSubmit?(): void;
  /** Complaints from outside, e.g. the server's or a schema's, by offset in the text. */
  problems?: readonly EditorProblem[];
  /** Are new complaints from outside scrolled to? */
  revealsProblems?: boolean;
  /** Looks through JSON whenever one pauses, e.g. for what a schema forbids. Should be the same function each time. */
  lint?: ((text: string) => readonly EditorProblem[]) | undefined;
  /** CSS height; default: fills its parent. */
  height?: string;
}

export interface DiffEditorProps {
  label: string;
  before: string;
  after: string;
  language: EditorLanguage;
  /** One column with the changes inline, or side by side. Default `unified`. */
  layout?: 'unified' | 'sides';
  height?: string;
}
