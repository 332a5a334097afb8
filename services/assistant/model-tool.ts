import type { JSONSchema7 } from '@ai-sdk/provider';
import { z } from 'zod';

/** Result of a tool call: `output` for the client, `told` for the model. */
type ToolResult = { output: unknown; told: string };

/** A call that can be made, or the problem to report to the model. */
type ReadCall = { input: unknown; run: () => Promise<ToolResult> } | { input: unknown; problem: string };

/** A tool that a model may call while it answers. */
export type ModelTool = { name: string; description: string; inputSchema: JSONSchema7; read(input: unknown): ReadCall };

/**
 * A tool of one answer. `run` gets input that the schema accepts, and throws errors that are reported to the model. `kind` is made once for all
 * answers, because a schema takes tens of kilobytes.
 */
export const modelTool = <Input>(kind: ToolKind<Input>, run: (input: Input) => Promise<ToolResult>): ModelTool => ({
  ...kind,
  read(input) {
    const { success, data, error } = kind.schema.safeParse(input);
    return success
      ? { input, run: () => run(data) }
      : { input, problem: `The input is wrong: ${z.prettifyError(error)}` };
  },
});

type ToolKind<Input> = { name: string; description: string; schema: z.ZodType<Input>; inputSchema: JSONSchema7 };

export const toolKind = <Input>(name: string, description: string, schema: z.ZodType<Input>): ToolKind<Input> => ({
  name,
  description,
  schema,
  inputSchema: z.toJSONSchema(schema, { target: 'draft-7' }) as JSONSchema7,
});

/** Parses a tool call of a model. The input is text and may be anything. */
export function readCall(tools: readonly ModelTool[], name: string, text: string): ReadCall {
  let input: unknown;
  try {
    input = text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    return { input: text, problem: 'The input is not JSON.' };
  }
  const tool = tools.find((one) => one.name === name);
  if (tool !== undefined) return tool.read(input);
  return { input, problem: `There is no such tool, only ${tools.map((one) => one.name).join(' and ')}.` };
}
