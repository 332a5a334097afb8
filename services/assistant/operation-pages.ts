/** Words of a question for the description of an operation. A key or token of an API is no operation. */
const interfaceWords =
  /\bapis?\b(?!\s+(?:keys?|tokens?))|\b(?:endpoints?|http|rest|curl|requests?|responses?|status codes?|headers?|payload|parameters?|query string)\b|\b(?:GET|POST|PUT|PATCH|DELETE)\b|\/v\d+\//;
const interfaceNames = /\b(?:API|HTTP|REST|cURL|Endpoint)\b(?!\s+(?:keys?|tokens?))/;

/** True for a question about an interface for programs. Other questions are answered from guides, if one matches about as well. Pure. */
export const asksForInterface = (question: string): boolean =>
  interfaceWords.test(question) || interfaceNames.test(question);

/** The line of an operation's method and address in its page's Markdown. */
const operationLine = /^`(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|QUERY|TRACE) \S+`$/m;
const operationLineWithin = 3_000;

/** True for Markdown of a page, or of its start, that describes one operation of an interface. Pure. */
export const isOperation = (markdown: string): boolean => operationLine.test(markdown.slice(0, operationLineWithin));
