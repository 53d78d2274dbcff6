// One infrastructure BSS in ns-3, as the agreement table and the speed comparison need it.
//
// Takes the parameters below, gives one text line per flow: octets delivered, sum of one-way
// delays in seconds and packets, all after the warm-up; then the octets of a beacon. Compiled
// with the libraries of the ns3 Python wheel. Node 0 is the access point, 1..n are stations on a circle of one
// metre, n + 1 is a wired server if there is one; every pair of radios has the same received power,
// so no frame captures another, or stations receive nothing of one another. Further BSSs on the same
// channel follow, each with saturated stations; nodes of different BSSs have a power of their own.
// Their flows come after the others.

#include <cmath>
#include <dlfcn.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace airtoll_bench
{

using namespace ns3;

struct Parameters
{
    std::string standard{"a"};
    std::string dataMode{"OfdmRate54Mbps"};
    std::string controlMode{"OfdmRate24Mbps"};
    int width{20};
    int guardIntervalNs{800};
    int streams{1};
    unsigned ampduMax{65535};
    bool shortPreamble{false};
    unsigned rtsThreshold{4692480};
    int stations{1};
    int slowStations{0}; // the last so many use slowMode
    std::string slowMode;
    double rssDbm{-40};
    std::string ofdma{"off"}; // off | downlink | uplink | both
    unsigned flowQueues{1024}; // of FqCoDel; flows whose hashes are equal share one
    std::string secondBand;    // band of a second link of all devices (simultaneous transmit and receive)
    int secondWidth{20};
    std::string secondMode;
    int emlsrPadding{-1};      // us; stations have one radio for both links (EMLSR); -1: two
    int emlsrTransition{0};    // us
    bool hidden{false};        // stations do not hear one another
    int neighbourCells{0};     // further BSSs
    int neighbourStations{0};  // of each
    double crossDbm{-40};      // between nodes of different BSSs
    std::string channelSettings;   // of the cell where neighbours have others; else ns-3's default
    std::string neighbourSettings; // their channel, where it is another
    double neighbourInterval{0}; // seconds between datagrams of a neighbour's flow
    bool colors{false};        // every BSS has a colour of its own
    double obssPdDbm{0};       // OBSS PD level; 0: none
    // Power, of all frames on the air together, that keeps the medium busy at the end of a reception.
    double heldFromDbm{-82};
    bool together{false};      // datagrams of all flows come at the same times
    unsigned window{0};        // MPDUs that a BlockAck tells of; 0: ns-3's own choice
    bool onBoundary{false};    // a packet that comes during a back-off does not make it longer
    unsigned amsduMax{0};      // octets; 0: no A-MSDU
    std::string category{"BE"}; // BE | BK | VI | VO | ALL: VO, VI, BE, BK, flow after flow
    std::string wired;         // data rate of a wire behind the access point, to a server
    double wiredDelay{0};      // seconds, one way
    bool wireFqCoDel{false};   // packets wait in FqCoDel alone, not in the device
    unsigned tcpBuffer{131072};
    std::string congestion{"TcpCubic"};
    std::string direction{"up"}; // up | down | both | relay (station 1 to 2, 3 to 4, ...)
    std::string transport{"udp"};
    unsigned payload{1472};
    double interval{0.0}; // seconds between datagrams of a flow
    double trafficFrom{0.5};
    double warmUp{1.0};
    double duration{3.0};
    unsigned run{1};
};

/// Access categories of the flows, flow after flow.
inline std::vector<std::string>
Categories(const Parameters& p)
{
    if (p.category == "ALL")
    {
        return {"VO", "VI", "BE", "BK"};
    }
    return {p.category};
}

/// ns-3's scheduler with two choices of airtoll's: a lone station with frames gets an HE SU PPDU, and one whose
/// queue is above 64,768 octets, the largest that its report can tell, is asked for so many instead of for
/// 5.484 ms. Needs -fno-access-control.
class SameScheduler : public RrMultiUserScheduler
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::SameScheduler")
                                .SetParent<RrMultiUserScheduler>()
                                .AddConstructor<SameScheduler>();
        return tid;
    }

  private:
    TxFormat TrySendingDlMuPpdu() override
    {
        TxFormat format = RrMultiUserScheduler::TrySendingDlMuPpdu();
        return format == DL_MU_TX && m_candidates.size() == 1 ? SU_TX : format;
    }

    TxFormat TrySendingBasicTf() override
    {
        const uint8_t more = 254;
        for (const auto& station : m_staListUl)
        {
            for (uint8_t tid = 0; tid < 8; ++tid)
            {
                if (m_apMac->GetBufferStatus(tid, station.address) == more)
                {
                    m_apMac->SetBufferStatus(tid, station.address, more - 1);
                }
            }
        }
        return RrMultiUserScheduler::TrySendingBasicTf();
    }
};

NS_OBJECT_ENSURE_REGISTERED(SameScheduler);

inline bool&
OnBoundary()
{
    static bool onBoundary = false;
    return onBoundary;
}

struct FlowCount
{
    uint64_t octets{0};
    uint64_t packets{0};
    double delaySum{0};
};

inline std::vector<FlowCount>& Counts()
{
    static std::vector<FlowCount> counts;
    return counts;
}

inline double& WarmUp()
{
    static double warmUp = 0;
    return warmUp;
}

inline uint32_t& BeaconOctets()
{
    static uint32_t octets = 0;
    return octets;
}

inline void
OnDatagram(uint32_t flow, Ptr<const Packet> packet)
{
    double now = Simulator::Now().GetSeconds();
    if (now < WarmUp())
    {
        return;
    }
    SeqTsHeader header;
    packet->PeekHeader(header);
    FlowCount& count = Counts()[flow];
    count.octets += packet->GetSize();
    count.packets += 1;
    count.delaySum += now - header.GetTs().GetSeconds();
}

inline void
OnSegment(uint32_t flow, Ptr<const Packet> packet, const Address&)
{
    if (Simulator::Now().GetSeconds() >= WarmUp())
    {
        Counts()[flow].octets += packet->GetSize();
        Counts()[flow].packets += 1;
    }
}

inline void
OnTransmit(Ptr<const Packet> packet, double)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    if (header.IsBeacon())
    {
        BeaconOctets() = packet->GetSize();
    }
}

inline std::string
Run(const Parameters& p)
{
    OnBoundary() = p.onBoundary;
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(p.run);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + p.congestion));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(p.tcpBuffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(p.tcpBuffer));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold",
                       UintegerValue(p.rtsThreshold));

    Config::SetDefault("ns3::FqCoDelQueueDisc::Flows", UintegerValue(p.flowQueues));
    Config::SetDefault("ns3::WifiPhy::CcaSensitivity", DoubleValue(p.heldFromDbm));

    NodeContainer nodes;
    bool server = !p.wired.empty();
    nodes.Create(p.stations + 1 + server);
    int firstNeighbour = p.stations + 1 + server;
    int perNeighbour = 1 + p.neighbourStations;
    nodes.Create(p.neighbourCells * perNeighbour);
    NodeContainer apNode(nodes.Get(0));
    NodeContainer stationNodes;
    for (int i = 1; i <= p.stations; ++i)
    {
        stationNodes.Add(nodes.Get(i));
    }

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    YansWifiPhyHelper yans;
    Ptr<YansWifiChannel> air = channel.Create();
    // The Yans model has one link.
    bool multiLink = !p.secondBand.empty();
    bool shares = p.ofdma != "off";
    SpectrumWifiPhyHelper spectrum(multiLink ? 2 : 1);
    WifiPhyHelper& phy =
        multiLink || shares || !p.neighbourSettings.empty()
            ? static_cast<WifiPhyHelper&>(spectrum)
            : yans;
    // Stations transmit 16.0206 dBm by default.
    Ptr<MatrixPropagationLossModel> matrix = CreateObject<MatrixPropagationLossModel>();
    matrix->SetDefaultLoss(16.0206 - p.rssDbm);
    air->SetPropagationLossModel(matrix);
    yans.SetChannel(air);
    Ptr<MultiModelSpectrumChannel> both = CreateObject<MultiModelSpectrumChannel>();
    both->AddPropagationLossModel(matrix);
    both->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    spectrum.SetChannel(both);
    std::map<std::string, WifiStandard> standards{{"a", WIFI_STANDARD_80211a},
                                                  {"b", WIFI_STANDARD_80211b},
                                                  {"g", WIFI_STANDARD_80211g},
                                                  {"n", WIFI_STANDARD_80211n},
                                                  {"ac", WIFI_STANDARD_80211ac},
                                                  {"ax", WIFI_STANDARD_80211ax},
                                                  {"be", WIFI_STANDARD_80211be}};
    bool low = p.standard == "b" || p.standard == "g";
    std::ostringstream settings;
    settings << "{0, " << (p.standard == "b" ? 22 : p.width) << ", "
             << (low ? "BAND_2_4GHZ" : p.width == 320 ? "BAND_6GHZ" : "BAND_5GHZ") << ", 0}";
    phy.Set("ChannelSettings",
            StringValue(p.channelSettings.empty() ? settings.str() : p.channelSettings));
    if (multiLink)
    {
        std::ostringstream second;
        second << "{0, " << p.secondWidth << ", " << p.secondBand << ", 0}";
        spectrum.Set(0, "ChannelSettings", StringValue(settings.str()));
        spectrum.Set(1, "ChannelSettings", StringValue(second.str()));
    }
    if (p.standard == "b")
    {
        phy.Set("ShortPlcpPreambleSupported", BooleanValue(p.shortPreamble));
    }
    phy.Set("Antennas", UintegerValue(p.streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(p.streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(p.streams));

    bool triggers = p.ofdma == "uplink" || p.ofdma == "both";
    WifiHelper wifi;
    wifi.SetStandard(standards.at(p.standard));
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(p.dataMode),
                                 "ControlMode",
                                 StringValue(p.controlMode));
    if (triggers)
    {
        // Trigger frames, and with them beacons, at the rate of other control frames.
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue(p.dataMode),
                                     "ControlMode",
                                     StringValue(p.controlMode),
                                     "NonUnicastMode",
                                     StringValue(p.controlMode));
    }
    if (multiLink)
    {
        wifi.SetRemoteStationManager(uint8_t(1),
                                     "ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue(p.secondMode),
                                     "ControlMode",
                                     StringValue(p.controlMode));
    }
    if (p.emlsrPadding >= 0)
    {
        wifi.ConfigEhtOptions("EmlsrActivated", BooleanValue(true));
    }
    if (p.obssPdDbm < 0)
    {
        wifi.SetObssPdAlgorithm("ns3::ConstantObssPdAlgorithm",
                                "ObssPdLevel",
                                DoubleValue(p.obssPdDbm));
    }
    WifiHelper slow = wifi;
    if (p.slowStations > 0)
    {
        slow.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue(p.slowMode),
                                     "ControlMode",
                                     StringValue(p.controlMode));
    }
    WifiMacHelper mac;
    Ssid ssid("airtoll");
    bool aggregates = p.standard == "n" || p.standard == "ac" || p.standard == "ax" || p.standard == "be";
    NetDeviceContainer devices;
    if (triggers)
    {
        // Every data frame reports its queue, as airtoll's do.
        Config::SetDefault("ns3::QosFrameExchangeManager::SetQueueSize", BooleanValue(true));
        // hostapd's defaults: a station whose triggered frames were acknowledged does not contend.
        Config::SetDefault("ns3::HeConfiguration::MuBeAifsn", UintegerValue(0));
        for (std::string category : {"Be", "Bk", "Vi", "Vo"})
        {
            Config::SetDefault("ns3::HeConfiguration::" + category + "MuEdcaTimer",
                               TimeValue(MicroSeconds(255 * 8192)));
        }
    }
    if (shares)
    {
        // The access point asks for the channel whenever its last exchange is over. Basic Trigger
        // frames ask for data: airtoll's scheduler has no BSRP.
        mac.SetMultiUserScheduler("ns3::SameScheduler",
                                  "NStations",
                                  UintegerValue(74),
                                  "EnableUlOfdma",
                                  BooleanValue(triggers),
                                  "EnableBsrp",
                                  BooleanValue(false),
                                  "AccessReqInterval",
                                  TimeValue(MicroSeconds(triggers ? 20 : 0)),
                                  "DelayAccessReqUponAccess",
                                  BooleanValue(false));
        mac.SetAckManager("ns3::WifiDefaultAckManager",
                          "DlMuAckSequenceType",
                          EnumValue(WifiAcknowledgment::DL_MU_AGGREGATE_TF));
    }
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid));
    devices.Add(wifi.Install(phy, mac, apNode));
    // Beacons collide too: by default a station leaves after ten lost ones, and others get its share.
    mac.SetType("ns3::StaWifiMac",
                "Ssid",
                SsidValue(ssid),
                "ActiveProbing",
                BooleanValue(false),
                "MaxMissedBeacons",
                UintegerValue(1000000));
    if (p.emlsrPadding >= 0)
    {
        // The main PHY turns to the link of a MU-RTS within its padding. For frames of its own it
        // turns to the link during the back-off: PHYs that listen hear the whole channel and do not
        // transmit (an RTS of theirs would limit the TXOP to 20 MHz).
        mac.SetEmlsrManager("ns3::AdvancedEmlsrManager",
                            "EmlsrLinkSet",
                            StringValue("0,1"),
                            "EmlsrPaddingDelay",
                            TimeValue(MicroSeconds(p.emlsrPadding)),
                            "EmlsrTransitionDelay",
                            TimeValue(MicroSeconds(p.emlsrTransition)),
                            "AuxPhyMaxModClass",
                            EnumValue(p.direction == "down" ? WIFI_MOD_CLASS_OFDM
                                                            : WIFI_MOD_CLASS_EHT),
                            "AuxPhyChannelWidth",
                            UintegerValue(p.direction == "down" ? 20 : p.width),
                            "AuxPhyTxCapable",
                            BooleanValue(p.direction == "down"),
                            // No back-off counts while the one radio transmits.
                            "InDeviceInterference",
                            BooleanValue(true));
        phy.Set("ChannelSwitchDelay", TimeValue(MicroSeconds(p.emlsrPadding / 2)));
    }
    for (int i = 1; i <= p.stations; ++i)
    {
        WifiHelper& helper = i > p.stations - p.slowStations ? slow : wifi;
        devices.Add(helper.Install(phy, mac, nodes.Get(i)));
    }
    if (!p.neighbourSettings.empty())
    {
        phy.Set("ChannelSettings", StringValue(p.neighbourSettings));
    }
    for (int cell = 0; cell < p.neighbourCells; ++cell)
    {
        std::ostringstream name;
        name << "neighbour" << cell;
        Ssid theirs(name.str());
        mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(theirs));
        int first = firstNeighbour + cell * perNeighbour;
        devices.Add(wifi.Install(phy, mac, nodes.Get(first)));
        mac.SetType("ns3::StaWifiMac",
                    "Ssid",
                    SsidValue(theirs),
                    "ActiveProbing",
                    BooleanValue(false),
                    "MaxMissedBeacons",
                    UintegerValue(1000000));
        for (int i = 1; i <= p.neighbourStations; ++i)
        {
            devices.Add(wifi.Install(phy, mac, nodes.Get(first + i)));
        }
    }
    std::string all = "/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/";
    if (aggregates)
    {
        for (const std::string& category : Categories(p))
        {
            Config::Set(all + "Mac/" + category + "_MaxAmpduSize", UintegerValue(p.ampduMax));
            Config::Set(all + "Mac/" + category + "_MaxAmsduSize", UintegerValue(p.amsduMax));
        }
        if (p.window > 0)
        {
            Config::Set(all + "Mac/MpduBufferSize", UintegerValue(p.window));
        }
        if (p.standard == "ax" || p.standard == "be")
        {
            Config::Set(all + "HeConfiguration/GuardInterval",
                        TimeValue(NanoSeconds(p.guardIntervalNs)));
        }
        else
        {
            Config::Set(all + "HtConfiguration/ShortGuardIntervalSupported",
                        BooleanValue(p.guardIntervalNs == 400));
        }
    }
    if (p.colors)
    {
        // Stations learn it from the beacons.
        for (int cell = -1; cell < p.neighbourCells; ++cell)
        {
            int ap = cell < 0 ? 0 : 1 + p.stations + cell * perNeighbour;
            DynamicCast<WifiNetDevice>(devices.Get(ap))
                ->GetHeConfiguration()
                ->SetAttribute("BssColor", UintegerValue(cell + 2));
        }
    }
    WifiHelper::AssignStreams(devices, 1000 * p.run);

    MobilityHelper mobility;
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (int i = 0; i < p.stations; ++i)
    {
        double angle = 2 * M_PI * i / p.stations;
        places->Add(Vector(std::cos(angle), std::sin(angle), 0));
    }
    for (int i = 0; i < p.neighbourCells * perNeighbour; ++i)
    {
        // Where two nodes are in one place the spectrum channel has no loss between them.
        double angle = 2 * M_PI * i / (p.neighbourCells * perNeighbour);
        places->Add(Vector(0.5 * std::cos(angle), 0.5 * std::sin(angle), 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(apNode);
    mobility.Install(stationNodes);
    auto bssOf = [&](int node) {
        return node < firstNeighbour ? -1 : (node - firstNeighbour) / perNeighbour;
    };
    int radios = firstNeighbour + p.neighbourCells * perNeighbour;
    for (int i = firstNeighbour; i < radios; ++i)
    {
        mobility.Install(nodes.Get(i));
    }
    for (int i = firstNeighbour; i < radios; ++i)
    {
        for (int j = 0; j < i; ++j)
        {
            bool wiredHost = server && j == p.stations + 1;
            if (!wiredHost && bssOf(i) != bssOf(j))
            {
                matrix->SetLoss(nodes.Get(i)->GetObject<MobilityModel>(),
                                nodes.Get(j)->GetObject<MobilityModel>(),
                                16.0206 - p.crossDbm);
            }
        }
    }
    if (p.hidden)
    {
        for (int i = 1; i <= p.stations; ++i)
        {
            for (int j = 1; j <= p.stations; ++j)
            {
                if (i != j)
                {
                    matrix->SetLoss(nodes.Get(i)->GetObject<MobilityModel>(),
                                    nodes.Get(j)->GetObject<MobilityModel>(),
                                    200,
                                    false);
                }
            }
        }
    }

    InternetStackHelper internet;
    internet.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    Ipv4Address serverAddress;
    if (server)
    {
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue(p.wired));
        wire.SetChannelAttribute("Delay", TimeValue(Seconds(p.wiredDelay)));
        if (p.wireFqCoDel)
        {
            // As byte queue limits of Linux's drivers; 100 packets by default.
            wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
        }
        NetDeviceContainer ends = wire.Install(nodes.Get(0), nodes.Get(p.stations + 1));
        addresses.SetBase("10.1.0.0", "255.255.0.0");
        serverAddress = addresses.Assign(ends).GetAddress(1);
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }
    NeighborCacheHelper neighbours;
    neighbours.PopulateNeighborCache();

    WarmUp() = p.warmUp;
    BeaconOctets() = 0;
    Counts().clear();
    std::vector<std::pair<int, int>> ends;
    if (p.direction == "relay")
    {
        for (int i = 1; i + 1 <= p.stations; i += 2)
        {
            ends.emplace_back(i, i + 1);
        }
    }
    else
    {
        for (int i = 1; i <= p.stations; ++i)
        {
            int far = server ? p.stations + 1 : 0;
            if (p.direction != "down")
            {
                ends.emplace_back(i, far);
            }
            if (p.direction != "up")
            {
                ends.emplace_back(far, i);
            }
        }
    }
    uint32_t ownFlows = ends.size();
    // The index of a node is that of its device: cases with neighbours have no server.
    for (int cell = 0; cell < p.neighbourCells; ++cell)
    {
        int first = firstNeighbour + cell * perNeighbour;
        for (int i = 1; i <= p.neighbourStations; ++i)
        {
            ends.emplace_back(first + i, first);
        }
    }
    Counts().resize(ends.size());
    for (uint32_t f = 0; f < ends.size(); ++f)
    {
        uint16_t port = 5000 + f;
        Ptr<Node> source = nodes.Get(ends[f].first);
        Ptr<Node> destination = nodes.Get(ends[f].second);
        bool toServer = server && ends[f].second == p.stations + 1;
        Ipv4Address to = toServer ? serverAddress : interfaces.GetAddress(ends[f].second);
        // Spread over one interval by the golden ratio, as airtoll's scenarios are; the runs differ
        // in their distance from the beacons.
        double interval = f < ownFlows ? p.interval : p.neighbourInterval;
        double turn = p.together ? 0 : std::fmod(f * 0.618033988749895, 1.0);
        double start = p.trafficFrom + interval * turn + 1e-4 * p.run;
        if (p.transport == "udp")
        {
            UdpServerHelper server(port);
            ApplicationContainer serving = server.Install(destination);
            serving.Start(Seconds(0));
            serving.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&OnDatagram, f));
            UdpClientHelper client(to, port);
            client.SetAttribute("MaxPackets", UintegerValue(4294967295U));
            client.SetAttribute("Interval", TimeValue(Seconds(interval)));
            client.SetAttribute("PacketSize", UintegerValue(p.payload));
            std::map<std::string, unsigned> tos{{"BE", 0x00}, {"BK", 0x28}, {"VI", 0xb8}, {"VO", 0xc0}};
            std::vector<std::string> categories = Categories(p);
            client.SetAttribute("Tos", UintegerValue(tos.at(categories[f % categories.size()])));
            ApplicationContainer sending = client.Install(source);
            sending.Start(Seconds(start));
        }
        else
        {
            PacketSinkHelper sink("ns3::TcpSocketFactory",
                                  InetSocketAddress(Ipv4Address::GetAny(), port));
            ApplicationContainer serving = sink.Install(destination);
            serving.Start(Seconds(0));
            serving.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&OnSegment, f));
            BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, port));
            bulk.SetAttribute("MaxBytes", UintegerValue(0));
            bulk.SetAttribute("SendSize", UintegerValue(1460));
            ApplicationContainer sending = bulk.Install(source);
            sending.Start(Seconds(p.trafficFrom + 0.001 * f));
        }
    }
    Ptr<WifiNetDevice> apDevice = DynamicCast<WifiNetDevice>(devices.Get(0));
    apDevice->GetPhy()->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&OnTransmit));

    Simulator::Stop(Seconds(p.warmUp + p.duration));
    Simulator::Run();
    Simulator::Destroy();
    std::ostringstream text;
    for (const FlowCount& count : Counts())
    {
        text << count.octets << ' ' << count.delaySum << ' ' << count.packets << '\n';
    }
    text << BeaconOctets() << '\n';
    return text.str();
}

} // namespace airtoll_bench

namespace ns3
{

/// Stands before the library's own function. That adds a slot to a back-off which a packet finds counting, also
/// where its next decrement is due at a slot boundary. With `onBoundary` the decrement is due one time step before
/// the boundary, which the slot then reaches (802.11-2020, 10.23.2.4).
void
ChannelAccessManager::RequestAccess(Ptr<Txop> txop)
{
    using Function = void (*)(ChannelAccessManager*, Ptr<Txop>);
    static const auto ofLibrary = reinterpret_cast<Function>(
        dlsym(RTLD_NEXT, "_ZN3ns320ChannelAccessManager13RequestAccessENS_3PtrINS_4TxopEEE"));
    NS_ABORT_MSG_IF(ofLibrary == nullptr, "the library has no ChannelAccessManager::RequestAccess");
    if (airtoll_bench::OnBoundary() && m_phy && !m_sleeping && !m_off && txop->IsQosTxop())
    {
        const Time due = txop->GetBackoffStart(m_linkId);
        const Time grant = GetAccessGrantStart() + txop->GetAifsn(m_linkId) * GetSlot();
        if (due > grant && (due - grant).GetTimeStep() % GetSlot().GetTimeStep() == 0)
        {
            txop->UpdateBackoffSlotsNow(0, due - Time(1), m_linkId);
        }
    }
    ofLibrary(this, txop);
}

} // namespace ns3
