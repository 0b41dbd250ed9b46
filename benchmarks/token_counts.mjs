// Counts the tokens of the texts of tests/operations/counted_tokens.tsv with four published tokenizers, and prints each
// language with the most that one of them counts. It ends with status 1 where the file states another number.
//
// Usage, in a folder of its own: npm install gpt-tokenizer @anthropic-ai/tokenizer llama3-tokenizer-js
//   NODE_PATH does not serve modules, so copy this script there: node token_counts.mjs PATH/counted_tokens.tsv
import fs from "node:fs";
import { getTokenizer } from "@anthropic-ai/tokenizer";
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";
import llama3 from "llama3-tokenizer-js";

const claude = getTokenizer();
const counts = {
  cl100k: (text) => cl100k(text).length,
  o200k: (text) => o200k(text).length,
  claude: (text) => claude.encode(text.normalize("NFKC"), "all").length,
  llama3: (text) => (llama3.default ?? llama3).encode(text, { bos: false, eos: false }).length,
};
let wrong = 0;
for (const line of fs.readFileSync(process.argv[2], "utf8").trimEnd().split("\n")) {
  const [language, stated, text] = line.split("\t");
  const found = Object.entries(counts).map(([name, count]) => [name, count(text)]);
  const most = Math.max(...found.map(([, count]) => count));
  if (most !== Number(stated)) wrong += 1;
  console.log(language, most, found.map(([name, count]) => `${name} ${count}`).join(", "));
}
process.exit(wrong ? 1 : 0);
