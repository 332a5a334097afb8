import { z } from 'zod';

/** Body of the assistant's message endpoints as the specification has it. What it does not name is let through unread: clients send whole messages back. */
const partSchema = z.looseObject({ type: z.string(), text: z.string().optional() }).superRefine((part, context) => {
  if (part.type === 'text' && part.text === undefined) {
    context.addIssue({ code: 'custom', path: ['text'], message: 'a text part needs "text"' });
  }
});

export const assistantMessageSchema = z.looseObject({
  id: z.string(),
  role: z.enum(['system', 'assistant', 'user']),
  parts: z.array(partSchema),
});

export type AssistantMessage = z.infer<typeof assistantMessageSchema>;

export const searchFilterSchema = z.object({
  version: z.string().max(100).nullish(),
  language: z.string().max(35).nullish(),
  groups: z.array(z.string().max(100)).max(100).nullish(),
});

export type SearchFilter = z.infer<typeof searchFilterSchema>;

const contextItemSchema = z.object({
  type: z.enum(['code', 'textSelection']),
  value: z.string(),
  path: z.string().optional(),
  elementId: z.string().optional(),
});

const question = {
  fp: z.string().min(1).max(200),
  threadId: z.string().max(100).nullish(),
  retrievalPageSize: z.int().min(1).max(50).default(5),
  filter: searchFilterSchema.nullish(),
  context: z.array(contextItemSchema).max(50).nullish(),
  currentPath: z.string().max(200).nullish(),
};

const endsWithUser = (messages: { role: string }[]): boolean => messages.at(-1)?.role === 'user';

export const assistantBodySchema = z.object({
  ...question,
  messages: z.array(assistantMessageSchema).min(1).max(200).refine(endsWithUser, "must end with a user's message"),
});

export type AssistantBody = z.infer<typeof assistantBodySchema>;

/** The same with the messages of AI SDK 4: `content` is text, parts are optional. */
export const assistantBodyV1Schema = z.object({
  ...question,
  messages: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        role: z.enum(['system', 'assistant', 'user', 'data']),
        content: z.string(),
      }),
    )
    .min(1)
    .max(200)
    .refine(endsWithUser, "must end with a user's message"),
});
