// The assistant, where it is on: its panel loads when it is first asked for. Other scripts open it by this one function.
if (config.features.assistant)
  window.binderyOpenAssistant = async function (question) {
    await load('assistant.js');
    window.binderyAssistant.ask(question);
  };
