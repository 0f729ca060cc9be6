package interop;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;

import com.helger.collection.commons.ICommonsList;
import com.helger.http.header.HttpHeaderMap;
import com.helger.phase4.attachment.WSS4JAttachment;
import com.helger.phase4.ebms3header.Ebms3SignalMessage;
import com.helger.phase4.ebms3header.Ebms3UserMessage;
import com.helger.phase4.error.AS4ErrorList;
import com.helger.phase4.incoming.IAS4IncomingMessageMetadata;
import com.helger.phase4.incoming.IAS4IncomingMessageState;
import com.helger.phase4.incoming.spi.AS4MessageProcessorResult;
import com.helger.phase4.incoming.spi.AS4SignalMessageProcessorResult;
import com.helger.phase4.incoming.spi.IAS4IncomingMessageProcessorSPI;
import com.helger.phase4.model.pmode.IPMode;
import org.w3c.dom.Node;

/** What phase4 hands over: every payload, decompressed, becomes a file of the folder. Nothing is forced to the disk. */
final class Keep implements IAS4IncomingMessageProcessorSPI {
  private final Path folder;

  Keep(Path folder) {
    this.folder = folder;
  }

  @Override
  public AS4MessageProcessorResult processAS4UserMessage(IAS4IncomingMessageMetadata metadata, HttpHeaderMap headers, Ebms3UserMessage message,
      IPMode mode, Node body, ICommonsList<WSS4JAttachment> payloads, IAS4IncomingMessageState state, AS4ErrorList errors) {
    try {
      if (payloads != null) for (WSS4JAttachment each : payloads) keep(each);
      return AS4MessageProcessorResult.createSuccess();
    } catch (Exception e) {
      e.printStackTrace();
      return AS4MessageProcessorResult.createFailure();
    }
  }

  private void keep(WSS4JAttachment payload) throws Exception {
    String name = UUID.randomUUID() + ".payload";
    Path unfinished = folder.resolve(name + ".tmp");
    try (InputStream in = payload.getSourceStream()) {
      Files.copy(in, unfinished);
    }
    Files.move(unfinished, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public AS4SignalMessageProcessorResult processAS4SignalMessage(IAS4IncomingMessageMetadata metadata, HttpHeaderMap headers,
      Ebms3SignalMessage signal, IPMode mode, IAS4IncomingMessageState state, AS4ErrorList errors) {
    return AS4SignalMessageProcessorResult.createSuccess();
  }

  @Override
  public void processAS4ResponseMessage(IAS4IncomingMessageMetadata metadata, IAS4IncomingMessageState state, String messageId, byte[] response,
      boolean available, AS4ErrorList errors) {}
}
