import { answersContract } from '#shared/messaging/answer-parts.contract.ts';
import { memoryAnswers } from './memory-answers.ts';

answersContract('memory', async () => {
  const answers = memoryAnswers(async () => {});
  return { assistant: answers, gateway: answers, stop: async () => {} };
});
