import type { JSONSchema7 } from '@ai-sdk/provider';
import { z } from 'zod';

/** What a call of a tool gives: `output` to the client, `told` to the model. */
type ToolResult = { output: unknown; told: string };

/** A call that can be made, or what the model is told is wrong with it. */
type ReadCall = { input: unknown; run: () => Promise<ToolResult> } | { input: unknown; problem: string };

/** What a model may call while it answers. */
export type ModelTool = { name: string; description: string; inputSchema: JSONSchema7; read(input: unknown): ReadCall };

/**
 * A tool of one answer. `run` gets what the schema lets through. It throws what the model is told. `kind` is made once: a schema takes tens of
 * kilobytes, and every open answer would have its own.
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

/** What a model wants to call, with its input as text. It may be anything. */
export function readCall(tools: readonly ModelTool[], name: string, text: string): ReadCall {
  let input: unknown;
  try {
    input = text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    return { input: text, problem: 'The input is no JSON.' };
  }
  const tool = tools.find((one) => one.name === name);
  if (tool !== undefined) return tool.read(input);
  return { input, problem: `There is no such tool, only ${tools.map((one) => one.name).join(' and ')}.` };
}
