import { csharpLiteral, goLiteral, javaLiteral } from './sample-literals.ts';
import { allHeaders, type SampleField, type SentRequest, sampleFile } from './sample-request.ts';

/* Writes samples as `script-samples.ts` does, for compiled languages. */

type Body = NonNullable<SentRequest['body']>;

export function goCode(request: SentRequest): string {
  const { method, address, body } = request;
  const { imports = [], before = '', reader = 'nil', after = '' } = body === undefined ? {} : goBody(body);
  const headers = allHeaders(request).map(
    ([name, value]) => `\treq.Header.Add(${goLiteral(name)}, ${goLiteral(value)})\n`,
  );
  const set = `${after}${headers.join('')}`;
  return `package main

import (
${['fmt', 'io', 'net/http', ...imports]
  .sort()
  .map((name) => `\t"${name}"\n`)
  .join('')})

func main() {
	requestUrl := ${goLiteral(address)}

${before === '' ? '' : `${before}\n`}	req, _ := http.NewRequest(${goLiteral(method)}, requestUrl, ${reader})

${set === '' ? '' : `${set}\n`}	res, _ := http.DefaultClient.Do(req)

	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)

	fmt.Println(res)
	fmt.Println(string(body))
}`;
}

type GoBody = { imports: string[]; before: string; reader: string; after?: string };

function goBody(body: Body): GoBody {
  const open = `\tfile, _ := os.Open(${goLiteral(sampleFile)})\n\tdefer file.Close()\n`;
  if (body.kind === 'file') return { imports: ['os'], before: open, reader: 'file' };
  if (body.kind !== 'parts')
    return {
      imports: ['strings'],
      before: `\tpayload := strings.NewReader(${goLiteral(body.text)})\n`,
      reader: 'payload',
    };
  const { parts } = body;
  const hasFiles = parts.some(({ isFile }) => isFile);
  const hasTypes = parts.some(({ mimeType }) => mimeType !== undefined);
  const written = parts.map(({ name, value, isFile, mimeType }) => {
    if (mimeType !== undefined) {
      const filename = isFile === true ? `; filename=${sampleFile}` : '';
      return `	{
		part, _ := writer.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf("form-data; name=%q${filename}", ${goLiteral(name)})},
			"Content-Type":        {${goLiteral(mimeType)}},
		})
		${isFile === true ? '_, _ = io.Copy(part, file)' : `_, _ = io.WriteString(part, ${goLiteral(value)})`}
	}
`;
    }
    if (isFile !== true) return `\t_ = writer.WriteField(${goLiteral(name)}, ${goLiteral(value)})\n`;
    return `	{
		part, _ := writer.CreateFormFile(${goLiteral(name)}, ${goLiteral(sampleFile)})
		_, _ = io.Copy(part, file)
	}
`;
  });
  return {
    imports: ['bytes', 'mime/multipart', ...(hasTypes ? ['net/textproto'] : []), ...(hasFiles ? ['os'] : [])],
    before: `${hasFiles ? `${open}\n` : ''}\tpayload := &bytes.Buffer{}\n\twriter := multipart.NewWriter(payload)\n${written.join('')}\twriter.Close()\n`,
    reader: 'payload',
    after: '\treq.Header.Set("Content-Type", writer.FormDataContentType())\n',
  };
}

export function javaCode(request: SentRequest): string {
  const { method, address, body } = request;
  const headers = allHeaders(request).map(
    ([name, value]) => `  .header(${javaLiteral(name)}, ${javaLiteral(value)})\n`,
  );
  return `HttpResponse<String> response = Unirest.request(${javaLiteral(method)}, ${javaLiteral(address)})
${headers.join('')}${body === undefined ? '' : javaBody(body)}  .asString();
System.out.println(response.getBody());`;
}

function javaBody(body: Body): string {
  const file = javaLiteral(sampleFile);
  if (body.kind === 'file') return `  .body(java.nio.file.Files.readAllBytes(java.nio.file.Path.of(${file})))\n`;
  if (body.kind !== 'parts') return `  .body(${javaLiteral(body.text)})\n`;
  const parts = body.parts.map(({ name, value, isFile, mimeType }) => {
    const content = isFile === true ? `new java.io.File(${file})` : javaLiteral(value);
    const type = mimeType === undefined ? '' : `, ${javaLiteral(mimeType)}`;
    return `  .field(${javaLiteral(name)}, ${content}${type})\n`;
  });
  return `  .multiPartContent()\n${parts.join('')}`;
}

const csharpMethods = /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE)$/;
const plainType = /^[\w.+-]+\/[\w.+-]+$/;

export function csharpCode(request: SentRequest): string {
  const { method, address, body } = request;
  const named = csharpMethods.test(method)
    ? `HttpMethod.${method.charAt(0)}${method.slice(1).toLowerCase()}`
    : `new HttpMethod(${csharpLiteral(method)})`;
  // In .NET the content type is a header of the content, not of the request.
  const headers = allHeaders(request)
    .filter(([name]) => name.toLowerCase() !== 'content-type')
    .map(
      ([name, value]) => `request.Headers.TryAddWithoutValidation(${csharpLiteral(name)}, ${csharpLiteral(value)});\n`,
    );
  return `using var client = new HttpClient();

var request = new HttpRequestMessage(${named}, ${csharpLiteral(address)});
${headers.join('')}${body === undefined ? '' : csharpBody(body)}
using var response = await client.SendAsync(request);
Console.WriteLine(await response.Content.ReadAsStringAsync());`;
}

function csharpBody(body: Body): string {
  if (body.kind === 'parts') return csharpForm(body.parts);
  const { type } = body;
  if (body.kind !== 'file' && plainType.test(type))
    return `request.Content = new StringContent(${csharpLiteral(body.text)}, System.Text.Encoding.UTF8, ${csharpLiteral(type)});\n`;
  const content =
    body.kind === 'file'
      ? `new StreamContent(File.OpenRead(${csharpLiteral(sampleFile)}))`
      : `new ByteArrayContent(System.Text.Encoding.UTF8.GetBytes(${csharpLiteral(body.text)}))`;
  return `request.Content = ${content};
request.Content.Headers.TryAddWithoutValidation("Content-Type", ${csharpLiteral(type)});
`;
}

function csharpForm(parts: readonly SampleField[]): string {
  const added = parts.map(({ name, value, isFile, mimeType }) => {
    if (isFile === true)
      return `content.Add(new StreamContent(File.OpenRead(${csharpLiteral(sampleFile)})), ${csharpLiteral(name)}, ${csharpLiteral(sampleFile)});\n`;
    const type = mimeType === undefined ? '' : `, System.Text.Encoding.UTF8, ${csharpLiteral(mimeType)}`;
    return `content.Add(new StringContent(${csharpLiteral(value)}${type}), ${csharpLiteral(name)});\n`;
  });
  return `var content = new MultipartFormDataContent();\n${added.join('')}request.Content = content;\n`;
}
